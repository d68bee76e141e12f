"""A slow evaluator of each dialect: `JUDGES[name](filter, event)` is whether the filter wants the event."""

from tests.protocol.dialects.judges import cloudevents, jms, topics

JUDGES = {
    "mqtt": topics.mqtt,
    "nats": topics.nats,
    "amqp-topic": topics.amqp_topic,
    "cloudevents": cloudevents.judge,
    "jms": jms.judge,
}
