package access

import (
	"tandem/engine/api"
)

// checkRole limits other users of a fleet, and their agents, to their roles. The machine's other
// rules apply in addition.
func checkRole(c api.Caller, name string, how api.Access, effect api.Effect) error {
	if c.Origin.Person == "" || roleAllows(c.Origin.Role, name, how, effect, c.Agent()) {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "call %s: %s has the role %s in this fleet, which does not allow it", name, c.Origin.Person, c.Origin.Role)
}

func roleAllows(role api.FleetRole, name string, how api.Access, effect api.Effect, agent bool) bool {
	switch {
	case how == "":
		return false
	case role == api.RoleAdmin:
		return true
	case role != api.RoleOperate && role != api.RoleRead: // of a newer fleet, perhaps
		return false
	case how == api.Bookkeeping:
		return agent // the agent's server records its calls
	case how == api.UserOnly, how == api.Filtered && !agent, name == api.EngineStop.Name:
		return false
	case role == api.RoleOperate:
		return true
	}
	secret := how == api.OnFiles || how == api.OnVariables || name == api.EnvGet.Name || name == api.EnvList.Name
	return effect == api.Read && !secret
}
