"""Commands that publish and receive messages, and send and answer questions."""
