package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestZZMeasure(t *testing.T) {
	h := open(t, patient)
	h.everyModule()
	for _, method := range []string{"create", "update", "archive"} {
		for _, kind := range []string{"rewards/reward", "challenges/challenge"} {
			var list []string
			for i := range 500 {
				b := `"title":{"en":"C"},"type":"custom","points":5`
				if kind != "rewards/reward" {
					b = `"title":{"en":"C"},"criteria":[{"action":"checkout","condition":"event.data.total >= 10 and customer.score > 5","threshold":5}],"points":5`
				}
				list = append(list, fmt.Sprintf(`{"method":%q,"type":%q,"id":"x%d","data":{%s}}`, method, kind, i, b))
			}
			began := time.Now()
			a := h.post("/entities", `{"entities":[`+strings.Join(list, ",")+`]}`)
			t.Log(method, kind, a.status, time.Since(began))
		}
	}
}
