import ModelFiles

extension ModelDocument {
    /// The model with the initial settings of Xcode's editor, for one from a compiled form, which does not contain
    /// them: generated code uses Swift's own types for numbers and Booleans.
    package var withEditorDefaults: ModelDocument {
        var result = self
        for entity in result.entities.indices {
            for property in result.entities[entity].properties.indices {
                guard case .attribute(var attribute) = result.entities[entity].properties[property].kind else {
                    continue
                }
                guard attribute.type.valueClassName == "NSNumber" else { continue }
                attribute.usesScalarType = true
                result.entities[entity].properties[property].kind = .attribute(attribute)
            }
        }
        return result
    }
}
