"""What went wrong in a call, and at which operation of the user's code."""
