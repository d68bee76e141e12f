"""What a message costs the router and its clients, alone, in small networks, and beside other people's brokers."""
