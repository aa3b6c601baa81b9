print("countdownd")
