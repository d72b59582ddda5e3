"""What users give, looked at where they give it: numbers in range, functions that take the right arguments."""
