print("countdownctl")
