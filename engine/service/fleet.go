package service

import (
	"context"
	"unicode"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/secrets"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts/transport"
)

// Fleet serves the operations on the fleet, and identifies users who visit from it.
type Fleet struct {
	Fleet  *fleet.Fleet
	Origin string // this engine, as "user@host"
	Guard  *access.Guard
}

// Handle registers the operations.
func (s *Fleet) Handle(m *server.Mux) {
	server.Handle(m, api.FleetStatus, func(context.Context, api.Empty) (api.FleetStatusOutput, error) { return s.Fleet.Status(), nil })
	server.Handle(m, api.FleetList, func(ctx context.Context, in api.FleetListInput) (api.FleetListOutput, error) {
		machines, err := s.Fleet.List(ctx, in)
		return api.FleetListOutput{Machines: machines}, err
	})
	server.Handle(m, api.FleetAny, s.pickMachine)
}

func (s *Fleet) pickMachine(ctx context.Context, in api.FleetAnyInput) (api.FleetAnyOutput, error) {
	agent, err := s.Guard.AgentBehind(ctx)
	if err != nil {
		return api.FleetAnyOutput{}, err
	}
	machine, err := s.Fleet.Any(ctx, in.Label, transport.Preface{Origin: s.Origin, Agent: agent})
	return api.FleetAnyOutput{Machine: machine}, err
}

// OriginOf returns the origin of requests by a visitor: a user who connects through the fleet.
func OriginOf(v fleet.Visitor) api.Origin {
	from := v.Person
	if v.Origin != "" {
		from += " (" + secrets.RedactLine(toOneLine(v.Origin)) + ")"
	}
	return api.Origin{From: from, Agent: toOneLine(v.Agent), By: v.By, Person: v.Person, Role: v.Role}
}

// toOneLine replaces invisible and control characters, and cuts text to a length that fits on a
// line.
func toOneLine(text string) string {
	const most = 200
	var b []rune
	for _, r := range text {
		if !unicode.IsGraphic(r) {
			r = '?'
		}
		if b = append(b, r); len(b) == most {
			break
		}
	}
	return string(b)
}
