"""A slow evaluator of each dialect: `JUDGES[name](filter, event)` is whether the filter wants the event."""

from tests.protocol.dialects.judges import (
    amqp_sql,
    azure,
    cel,
    cesql,
    cloudevents,
    headers,
    jms,
    json_patterns,
    pubsub,
    tamis,
    topics,
)

JUDGES = {
    "tamis": tamis.judge,
    "mqtt": topics.mqtt,
    "nats": topics.nats,
    "amqp-topic": topics.amqp_topic,
    "amqp-headers": headers.judge,
    "cloudevents": cloudevents.judge,
    "cesql": cesql.judge,
    "jms": jms.judge,
    "amqp-sql": amqp_sql.judge,
    "azure": azure.judge,
    "cel": cel.judge,
    "pubsub": pubsub.judge,
    "eventbridge": json_patterns.eventbridge,
    "sns": json_patterns.sns,
}
