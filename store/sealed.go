package store

import "github.com/loyalty-platform/loyalty/store/schema"

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

// sealedColumns are the columns that hold values sealed under the master key.
var sealedColumns = func() (list []sealedColumn) {
	for i := range schema.Tables {
		t := &schema.Tables[i]
		for _, column := range t.Sealed {
			c := sealings[t.Name+"."+column]
			c.table, c.column = t.Name, column
			list = append(list, c)
		}
	}
	return list
}()

// sealings says of each sealed column how its rows are found, and what a value is bound to.
var sealings = map[string]sealedColumn{
	"key_secrets.sealed": {
		key:   []sealedKey{textKey("key_id"), uuidKey("id")},
		bound: func(key []any) []byte { return secretID(*key[0].(*string), *key[1].(*UUID)) },
	},
	"customer_keys.sealed": {
		key:   []sealedKey{uuidKey("customer_id")},
		bound: func(key []any) []byte { id := key[0].(*UUID); return rowID("customer_keys", string(id[:])) },
	},
	"answers.body": { // answers of customers are sealed under the customers' keys
		key: []sealedKey{textKey("access_key"), textKey("key")}, where: "customer_id IS NULL",
		bound: func(key []any) []byte { return rowID("answers", *key[0].(*string), *key[1].(*string)) },
	},
	"answers.block": {
		key: []sealedKey{textKey("access_key"), textKey("key")}, where: "customer_id IS NULL AND block IS NOT NULL",
		bound: func(key []any) []byte {
			return rowID("answers", *key[0].(*string), *key[1].(*string), "customer")
		},
	},
	"upload_parts.sealed": {
		key: []sealedKey{uuidKey("upload_id"), textKey("file"), numberKey("part")}, large: true,
		bound: func(key []any) []byte { return partID(*key[0].(*UUID), *key[1].(*string), *key[2].(*int64)) },
	},
	"users.totp_sealed": {
		key:   []sealedKey{uuidKey("id")},
		bound: func(key []any) []byte { return totpID(*key[0].(*UUID)) },
	},
	"webhook_secrets.sealed": {
		key:   []sealedKey{uuidKey("webhook_id"), uuidKey("id")},
		bound: func(key []any) []byte { return webhookSecretID(*key[0].(*UUID), *key[1].(*UUID)) },
	},
	"webhooks.headers": {
		key:   []sealedKey{uuidKey("id")},
		bound: func(key []any) []byte { return headersID(*key[0].(*UUID)) },
	},
	"leavers.sealed": {
		key:   []sealedKey{uuidKey("customer_id")},
		bound: func(key []any) []byte { return leaverID(*key[0].(*UUID)) },
	},
	"deliveries.subject": {
		key: []sealedKey{uuidKey("webhook_id"), numberKey("number")},
		bound: func(key []any) []byte {
			return subjectID(&deliveryRow{WebhookID: *key[0].(*UUID), Number: *key[1].(*int64)})
		},
	},
	"attempts.answer": { // answers about customers are sealed under the customers' keys
		key:   []sealedKey{uuidKey("webhook_id"), numberKey("number"), numberKey("n")},
		where: "answer IS NOT NULL AND EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = attempts.webhook_id AND d.number = attempts.number AND d.customer_id IS NULL)",
		bound: func(key []any) []byte {
			return attemptID(&attemptRow{WebhookID: *key[0].(*UUID), Number: *key[1].(*int64), N: int(*key[2].(*int64))})
		},
	},
}
