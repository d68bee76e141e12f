"""What gateways cost."""
