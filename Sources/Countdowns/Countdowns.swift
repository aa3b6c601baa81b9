// Countdowns
