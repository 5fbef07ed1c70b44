package client

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// AuthZEN asks any server of the Authorization API 1.0 for decisions. None of its errors is a
// permit.
type AuthZEN struct {
	client    *Client
	endpoints map[string]string
}

// NewAuthZEN uses the paths of the specification below the addresses.
func NewAuthZEN(options Options) (*AuthZEN, error) {
	client, err := New(options)
	return &AuthZEN{client, map[string]string{
		"access_evaluation_endpoint":  "/access/v1/evaluation",
		"access_evaluations_endpoint": "/access/v1/evaluations",
		"search_subject_endpoint":     "/access/v1/search/subject",
		"search_resource_endpoint":    "/access/v1/search/resource",
		"search_action_endpoint":      "/access/v1/search/action",
	}}, err
}

// DiscoverAuthZEN uses the endpoints that the server at the only address names in its
// configuration.
func DiscoverAuthZEN(ctx context.Context, options Options) (*AuthZEN, error) {
	stranger := options
	stranger.Token, stranger.TokenProvider, stranger.Header = "", nil, nil
	client, err := New(stranger)
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(options.Addresses[0])
	if err != nil {
		return nil, err
	}
	place := fmt.Sprintf("%s://%s/.well-known/authzen-configuration%s",
		server.Scheme, server.Host, strings.TrimRight(server.EscapedPath(), "/"))
	configuration, _, err := call[map[string]any](ctx, client, operation{"GET", place, "", nil}, nil)
	if err != nil {
		return nil, err
	}
	// The configuration of another server must not get the token.
	if configuration["policy_decision_point"] != options.Addresses[0] {
		return nil, fmt.Errorf("the configuration at %s is of another server", place)
	}
	made, err := NewAuthZEN(options)
	if err == nil {
		for name := range made.endpoints {
			made.endpoints[name], _ = configuration[name].(string)
		}
	}
	return made, err
}

// Decision is the answer to a question. What the context has is the server's own.
type Decision struct {
	Decision bool
	Context  map[string]any
}

// decided is a Decision, and tells whether there is one.
type decided struct {
	Decision *bool          `json:"decision"`
	Context  map[string]any `json:"context"`
}

func decisions(answers ...decided) ([]Decision, error) {
	made := []Decision{}
	for _, one := range answers {
		if one.Decision == nil {
			return nil, &Error{Status: 200, Code: "invalid", Detail: "the answer has no decision"}
		}
		made = append(made, Decision{*one.Decision, one.Context})
	}
	return made, nil
}

// Evaluate decides one question.
func (a *AuthZEN) Evaluate(ctx context.Context, body EvaluateBody) (Decision, error) {
	answer, err := ask[decided](ctx, a, "access_evaluation_endpoint", body)
	if err != nil {
		return Decision{}, err
	}
	made, err := decisions(answer)
	if err != nil {
		return Decision{}, err
	}
	return made[0], nil
}

// Evaluations decides many questions.
func (a *AuthZEN) Evaluations(ctx context.Context, body EvaluateAllBody) ([]Decision, error) {
	type answers struct {
		Evaluations []decided `json:"evaluations"`
		decided
	}
	answer, err := ask[answers](ctx, a, "access_evaluations_endpoint", body)
	if err != nil {
		return nil, err
	}
	if answer.Evaluations == nil {
		return decisions(answer.decided)
	}
	return decisions(answer.Evaluations...)
}

// SearchSubjects finds who may do something.
func (a *AuthZEN) SearchSubjects(ctx context.Context, body SearchSubjectsBody) (
	SearchResult, error,
) {
	return ask[SearchResult](ctx, a, "search_subject_endpoint", body)
}

// SearchResources finds what a subject may do something to.
func (a *AuthZEN) SearchResources(ctx context.Context, body SearchResourcesBody) (
	SearchResult, error,
) {
	return ask[SearchResult](ctx, a, "search_resource_endpoint", body)
}

// SearchActions finds what a subject may do to a resource.
func (a *AuthZEN) SearchActions(ctx context.Context, body SearchActionsBody) (SearchResult, error) {
	return ask[SearchResult](ctx, a, "search_action_endpoint", body)
}

func ask[T any](ctx context.Context, a *AuthZEN, name string, body any) (T, error) {
	if a.endpoints[name] == "" {
		var none T
		return none, fmt.Errorf("the server has no %s", name)
	}
	asked := operation{"POST", a.endpoints[name], "application/json", body}
	made, _, err := call[T](ctx, a.client, asked, (*ReadQuery)(nil))
	return made, err
}
