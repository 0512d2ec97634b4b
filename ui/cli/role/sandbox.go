package role

import (
	"encoding/json"
	"path/filepath"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/sandbox"
	"tandem/persist/config"
	"tandem/ui/cli/doctor"
)

// sandboxHere describes for the doctor what confines agents on this machine.
func sandboxHere() doctor.Sandbox {
	here := doctor.Sandbox{}
	for _, p := range sandbox.Promises() {
		here.Promises = append(here.Promises, doctor.Promise{Name: p.Name, Why: p.Why})
	}
	conf, err := config.LoadAgents(dataDirOrNone())
	if err == nil {
		here.Profile = conf.Agents.Sandbox
		err = enforceable(conf.Agents)
	}
	here.Fault = err
	return here
}

// enforceable returns why the agents' sandbox cannot be enforced here, or nil.
func enforceable(c config.Agents) error {
	s, err := access.ReadSandbox(c.Sandbox)
	if err != nil || s == nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	profile, err := sandbox.Parse(text)
	if err != nil {
		return err
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	return sandbox.Layers{profile}.Check(dataDir, filepath.Dir(config.PolicyPath()))
}
