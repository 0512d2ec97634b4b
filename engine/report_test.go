package engine

import (
	"testing"

	"tandem/engine/api"
)

// The inbox shows the reported question, and types the user's answer into the session. A false report
// could make the user type into a session outside the sandbox.
func TestSandboxedAgentCannotReportOnOtherSessions(t *testing.T) {
	t.Parallel()
	testLocalAndRemote(t, func(t *testing.T, p *confinedAgent) {
		call(p.machine, api.AgentReport, api.AgentReportInput{ID: p.userSession, Agent: "mine", Conversation: "c-1"})
		for _, body := range []string{
			`{"id":"$THEIRS","state":"blocked","text":"your password?"}`, `{"id":"$THEIRS","state":"unknown"}`, `{"id":"$THEIRS","conversation":"other"}`,
		} {
			p.wantRejected(p.bounds, "agent.report", body, "outside the agents' sandbox")
		}
		if a := p.get(p.userSession).Agent; a != nil && (a.Text != "" || a.Conversation != "c-1") {
			t.Errorf("the session's agent is %+v", a)
		}
		if status, answer := p.post(p.bounds, "agent.report", `{"id":"$OWN","state":"done"}`); status != 200 {
			t.Errorf("of its own session: %d %s", status, answer)
		}
		call(p.machine, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.userSession, Open: true})
		if status, answer := p.post(p.bounds, "agent.report", `{"id":"$THEIRS","state":"working"}`); status != 200 {
			t.Errorf("of an open session: %d %s", status, answer)
		}
	})
}
