"""How fast the engines match, how much memory they take, and how they stand beside other people's libraries."""
