"""How fast event logs are analysed, and whether the advice that comes of them keeps its promises."""
