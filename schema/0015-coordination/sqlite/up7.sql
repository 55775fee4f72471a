-- Events by what caused them and by their time, and deliveries by what they are about: for timelines and exports.

CREATE INDEX IF NOT EXISTS event_cause ON event (correlation, sequence) WHERE correlation IS NOT NULL;

CREATE INDEX IF NOT EXISTS event_time ON event (time_created, sequence);

CREATE INDEX IF NOT EXISTS hook_delivery_object ON hook_delivery (object, sequence, hook_id);
