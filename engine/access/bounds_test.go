package access

import (
	"testing"

	"tandem/engine/api"
)

func TestEveryWayIntoTheEngineHasARule(t *testing.T) {
	names := []string{"engine.open", "events.watch", "session.attach"}
	for _, e := range api.Operations() {
		names = append(names, e.Name)
	}
	for _, name := range names {
		if rules[name] == undecided {
			t.Errorf("%s has no rule for what an agent may do", name)
		}
	}
	if len(rules) != len(names) {
		t.Errorf("%d rules for %d operations: which are no operations?", len(rules), len(names))
	}
}
