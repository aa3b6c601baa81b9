print("countdown-bench")
