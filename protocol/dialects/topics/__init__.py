"""Filters of topics, subjects and routing keys: MQTT, NATS, AMQP."""
