/** The schema of a template's variables; in a file of its own, because the build reads it. */

/** A JSON schema as answers contain it, with its white space. */
export const NAME_SCHEMA = `{
	"type": "object",
	"properties": {
		"name": { "type": "string", "$ref": "#/definitions/min-length-one" }
	},
	"required": ["name"],
	"definitions": {
		"min-length-one": {
			"type": "string",
			"minLength": 1
		}
	}
}`;
