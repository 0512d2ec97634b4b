package access

import (
	"tandem/engine/api"
	"tandem/engine/api/server"
)

// mayVisit holds a person of the fleet, and agents of theirs, to their role. What
// the machine itself refuses stays refused.
func mayVisit(c server.Caller, name string, how rule, effect api.Effect) error {
	if c.Origin.Person == "" || visitorMay(c.Origin.Role, name, how, effect, c.Agent()) {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "call %s: %s has the role %s in this fleet, which does not allow it", name, c.Origin.Person, c.Origin.Role)
}

func visitorMay(role api.FleetRole, name string, how rule, effect api.Effect, agent bool) bool {
	switch {
	case how == undecided:
		return false
	case role == api.RoleAdmin:
		return true
	case how == bookkeeping:
		return agent // its server tells of what it did
	case how == personOnly, name == api.EngineStop.Name:
		return false
	case role == api.RoleOperate:
		return true
	}
	secret := how == files || how == variables || name == api.EnvGet.Name || name == api.EnvList.Name
	return role == api.RoleRead && effect == api.Read && !secret
}
