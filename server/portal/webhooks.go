package portal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// addWebhooks writes the page about what an address receives, the callback of the operation that creates a webhook, and
// one page for each type of message.
func (b *book) addWebhooks(c *contract, notices []Notice) error {
	create, message := callback(c)
	if message == nil {
		return errors.New("the Administration document has no message of webhooks")
	}
	if err := b.addMessages(c, message, notices); err != nil {
		return err
	}

	var w strings.Builder
	fmt.Fprintf(&w, "%s\n\n[Create one](/docs/operations/createWebhook), [send a test](/docs/operations/testWebhook), [see its types](/docs/operations/listWebhookTypes).\n", create.Description)
	fmt.Fprintf(&w, "\n## %s\n\n%s\n", message.Summary, message.Description)
	received := operation{Operation: message, parameters: message.Parameters}
	received.writeParameters(&w)
	content := message.RequestBody.Value.Content.Get("application/json")
	w.WriteString("\n## The message\n\n" + fieldsOf(content.Schema.Value))
	for _, example := range content.Examples {
		fmt.Fprintf(&w, "\n```json\n%s\n```\n", asJSON(example.Value.Value, "  "))
	}

	w.WriteString("\n## To verify it\n\nWith any library for Standard Webhooks, or with these lines of Python; `secret` is what creating the webhook answered.\n\n```python\n" + verifySample + "\n```\n")
	w.WriteString("\n## Types\n\n`event.` and the name of an [action](/docs/events), such as `event.point_add`; a star at the end stands for all that begin so, as in `event.point_*`. " +
		"Actions that the programme declares itself have types too; `GET /admin/webhook-types` lists all that there are.\n\n" + b.index("/docs/webhooks"))
	b.add(&page{
		path: "/docs/webhooks", title: "Webhooks", section: "/docs/webhooks",
		summary: "What your address receives, how to verify it and how to answer.", text: w.String(),
	})
	return nil
}

// callback finds the operation that creates webhooks, and what their addresses receive.
func callback(c *contract) (create, message *openapi3.Operation) {
	for _, op := range operations("administration", c.administration()) {
		for _, ref := range op.Callbacks {
			for _, item := range ref.Value.Map() {
				return op.Operation, item.Post
			}
		}
	}
	return nil, nil
}

// verifySample is how a receiver verifies a message. A test runs it against our signer.
const verifySample = `import base64, hashlib, hmac, time

def verify(secret, headers, body):
    """body is the bytes as they came. A message that is not ours, or older than five minutes, raises ValueError."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split()):
        raise ValueError("the signature is wrong")
    if abs(time.time() - int(headers["webhook-timestamp"])) > 300:
        raise ValueError("the message is too old")`
