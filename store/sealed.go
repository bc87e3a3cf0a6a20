package store

// sealedColumn is a column with sealed values: the key of its rows, and what a value is bound to.
type sealedColumn struct {
	table, column string
	key           []sealedKey
	where         string // the condition for its rows; empty: all rows with a value
	large         bool   // a value may have a megabyte, so few are read at once
	bound         func(key []any) []byte
}

// sealedKey is a column of a key, as UUID, string or int64.
type sealedKey struct {
	name string
	into func() any // a pointer to scan into
}

func uuidKey(name string) sealedKey { return sealedKey{name, func() any { return new(UUID) }} }
func numberKey(name string) sealedKey {
	return sealedKey{name, func() any { return new(int64) }}
}
func textKey(name string) sealedKey { return sealedKey{name, func() any { return new(string) }} }

// sealedColumns are all columns that hold values sealed under the master key. Add each new one: TestSealedColumns
// fails for a missing table, because a change of the master key would make its values unreadable. master_check and
// names_key belong to the change itself.
var sealedColumns = []sealedColumn{
	{
		table: "key_secrets", column: "sealed", key: []sealedKey{textKey("key_id"), uuidKey("id")},
		bound: func(key []any) []byte { return secretID(*key[0].(*string), *key[1].(*UUID)) },
	},
	{
		table: "customer_keys", column: "sealed", key: []sealedKey{uuidKey("customer_id")},
		bound: func(key []any) []byte { id := key[0].(*UUID); return rowID("customer_keys", string(id[:])) },
	},
	{ // answers of customers are sealed under the customers' keys
		table: "answers", column: "body", key: []sealedKey{textKey("access_key"), textKey("key")}, where: "customer_id IS NULL",
		bound: func(key []any) []byte { return rowID("answers", *key[0].(*string), *key[1].(*string)) },
	},
	{
		table: "answers", column: "block", key: []sealedKey{textKey("access_key"), textKey("key")}, where: "customer_id IS NULL AND block IS NOT NULL",
		bound: func(key []any) []byte {
			return rowID("answers", *key[0].(*string), *key[1].(*string), "customer")
		},
	},
	{
		table: "upload_parts", column: "sealed", key: []sealedKey{uuidKey("upload_id"), textKey("file"), numberKey("part")}, large: true,
		bound: func(key []any) []byte { return partID(*key[0].(*UUID), *key[1].(*string), *key[2].(*int64)) },
	},
	{
		table: "users", column: "totp_sealed", key: []sealedKey{uuidKey("id")},
		bound: func(key []any) []byte { return totpID(*key[0].(*UUID)) },
	},
	{
		table: "webhook_secrets", column: "sealed", key: []sealedKey{uuidKey("webhook_id"), uuidKey("id")},
		bound: func(key []any) []byte { return webhookSecretID(*key[0].(*UUID), *key[1].(*UUID)) },
	},
	{
		table: "webhooks", column: "headers", key: []sealedKey{uuidKey("id")},
		bound: func(key []any) []byte { return headersID(*key[0].(*UUID)) },
	},
	{
		table: "leavers", column: "sealed", key: []sealedKey{uuidKey("customer_id")},
		bound: func(key []any) []byte { return leaverID(*key[0].(*UUID)) },
	},
	{
		table: "deliveries", column: "subject", key: []sealedKey{uuidKey("webhook_id"), numberKey("number")},
		bound: func(key []any) []byte {
			return subjectID(&deliveryRow{WebhookID: *key[0].(*UUID), Number: *key[1].(*int64)})
		},
	},
	{ // answers about customers are sealed under the customers' keys
		table: "attempts", column: "answer", key: []sealedKey{uuidKey("webhook_id"), numberKey("number"), numberKey("n")},
		where: "answer IS NOT NULL AND EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = attempts.webhook_id AND d.number = attempts.number AND d.customer_id IS NULL)",
		bound: func(key []any) []byte {
			return attemptID(&attemptRow{WebhookID: *key[0].(*UUID), Number: *key[1].(*int64), N: int(*key[2].(*int64))})
		},
	},
}
