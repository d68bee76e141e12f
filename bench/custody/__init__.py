"""What it costs to store messages for durable subscriptions of other routers."""
