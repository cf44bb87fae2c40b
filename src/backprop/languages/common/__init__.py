"""What languages share: names, the program as it is told in a comment, functions of Python, the writer itself."""
