package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// A ToolCall is a call of an agent's tool. For it, an agents' server calls operations.
type ToolCall struct {
	ID    string   // unique within the client
	Tools []string // the tool, then others whose policy rules apply too
	Uses  []string // its operations, if the first one names all that they work on; otherwise see policy.check
	NoAsk bool     // do not wait for the user's answer before the first operation: see Refusal

	begun   atomic.Bool // an operation has been carried out
	refusal atomic.Pointer[Error]
}

// Refusal returns the error with which the policy or the user has refused the first operation, or
// nil. If its reason is ReasonAskUser, it contains the question. A tool may report the error in a
// form of its own.
func (c *ToolCall) Refusal() *Error { return c.refusal.Load() }

type toolCallKey struct{}

// WithToolCall returns a context for operations that belong to a tool call.
func WithToolCall(ctx context.Context, c *ToolCall) context.Context {
	return context.WithValue(ctx, toolCallKey{}, c)
}

// WithRulesOf returns a context for operations that must be allowed to another tool as well. The
// user is not asked about them.
func WithRulesOf(ctx context.Context, tool string) context.Context {
	also := &ToolCall{Tools: []string{tool}, NoAsk: true}
	if c := ToolCallOf(ctx); c != nil {
		also.ID, also.Tools = c.ID, append(slices.Clone(c.Tools), tool)
	}
	return WithToolCall(ctx, also)
}

// ToolCallOf returns the tool call to which a context belongs, or nil.
func ToolCallOf(ctx context.Context) *ToolCall {
	c, _ := ctx.Value(toolCallKey{}).(*ToolCall)
	return c
}

// SetHeaders adds the request headers for a tool call. If c is nil, it adds none.
func (c *ToolCall) SetHeaders(h http.Header) {
	if c == nil {
		return
	}
	h.Set(CallHeader, c.ID)
	h.Set(ToolHeader, strings.Join(c.Tools, ","))
	if len(c.Uses) > 0 {
		h.Set(UsesHeader, strings.Join(c.Uses, ","))
	}
	if c.NoAsk && !c.begun.Load() {
		h.Set(AskHeader, "no")
	}
}

// NoteAnswer records that an operation was carried out or, if e is not nil, refused.
func (c *ToolCall) NoteAnswer(e *Error) {
	switch {
	case c == nil:
	case e == nil:
		c.begun.Store(true)
	case !c.begun.Load() && (e.Reason == ReasonAskUser || e.Reason == ReasonDenied):
		c.refusal.Store(e)
	}
}

// WithoutTool returns a context for operations that do not belong to the tool call, such as a
// search for its subjects.
func WithoutTool(ctx context.Context) context.Context {
	return WithToolCall(ctx, nil)
}

// WithoutAsking returns a context for optional operations of a tool call. If the user would have to
// be asked, they fail.
func WithoutAsking(ctx context.Context) context.Context {
	c := ToolCallOf(ctx)
	if c == nil {
		return ctx
	}
	return WithToolCall(ctx, &ToolCall{ID: c.ID, Tools: c.Tools, NoAsk: true})
}
