package host

import (
	"testing"

	"tandem/engine/agent/coding"
	"tandem/persist/store"
)

func TestResumeSettingDecidesWhetherConversationsContinue(t *testing.T) {
	t.Parallel()
	h := &Host{bootID: "now", Agents: &coding.Registry{Library: coding.NewLibrary("", nil)}}
	before := store.Identity{BootID: "before", PID: 1}
	record := func(argv ...string) store.Record {
		return store.Record{Origin: store.Origin{Actor: "person"}, Command: store.Command{Argv: argv, CWD: "/"}, Terminal: store.Terminal{Agent: &store.Agent{Name: "claude", Conversation: "c", CWD: "/usr"}}}
	}
	const command = "cd /usr && claude --resume c"
	for _, c := range []struct {
		how     string
		argv    []string
		typed   string
		instead bool
	}{
		{ResumeOffer, []string{"bash"}, command, false},
		{ResumeRun, []string{"bash"}, command, false},
		{ResumeOff, []string{"bash"}, "", false},
		{ResumeOffer, []string{"claude"}, "", false},
		{ResumeRun, []string{"claude"}, "", true},
		{ResumeRun, []string{"claude", "fix it"}, "", false},
		{ResumeRun, []string{"python3"}, "", false},
	} {
		h.settings.current.Store(&currentSettings{resume: c.how})
		if got := h.planResumption(record(c.argv...), before); got.typed != c.typed || got.instead != c.instead || got.enter != (c.typed != "" && c.how == ResumeRun) {
			t.Errorf("%q of %q: %+v", c.how, c.argv, got)
		}
	}
	h.settings.current.Store(&currentSettings{resume: ResumeRun})
	of := record("bash")
	of.Actor = "agent:x"
	if got := h.planResumption(of, before); got.typed != "" {
		t.Errorf("in an agent's session: %+v", got)
	}
	if got := h.planResumption(record("bash"), store.Identity{BootID: "now"}); got.typed != "" {
		t.Errorf("without a reboot: %+v", got)
	}
}
