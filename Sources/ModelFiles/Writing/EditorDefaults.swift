extension ModelDocument {
    /// The model as Xcode's editor would have begun it, for one that comes from a compiled form: generated code has numbers
    /// and Booleans in Swift's own types. Nothing in a compiled model says.
    package var withEditorDefaults: ModelDocument {
        var result = self
        for entity in result.entities.indices {
            for property in result.entities[entity].properties.indices {
                guard case .attribute(var attribute) = result.entities[entity].properties[property].kind else {
                    continue
                }
                switch attribute.type {
                case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
                    .floatAttributeType, .booleanAttributeType:
                    attribute.usesScalarType = true
                default: continue
                }
                result.entities[entity].properties[property].kind = .attribute(attribute)
            }
        }
        return result
    }
}
