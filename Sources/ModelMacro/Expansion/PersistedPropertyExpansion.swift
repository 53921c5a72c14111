/// The expansion of `@_PersistedProperty` for a variable of a model, which `@Model` attaches.
package struct PersistedPropertyExpansion {
    private let name: String
    /// How values are read and written: `Value`, or `TransformableValue` for those of a transformer.
    private let kind: String

    /// Fails for what is not a single variable, which the compiler reports.
    ///
    /// - Parameters:
    ///   - source: the variable.
    ///   - isTransformable: whether a transformer makes bytes of its values.
    package init?(of source: String, isTransformable: Bool) {
        guard let variable = ClassDeclaration.Variable(source) else { return nil }
        name = variable.name
        kind = isTransformable ? "TransformableValue" : "Value"
    }

    /// The accessors.
    ///
    /// The one for initializers writes the backing data alone, since there is no model yet.
    package var accessors: MacroExpansion {
        MacroExpansion(
            source: """
                {
                    @storageRestrictions(accesses: _$backingData, initializes: _\(name))
                    init(initialValue) {
                        _$backingData.set\(kind)(forKey: \\.`\(name)`, to: initialValue)
                        _\(name) = _SwiftDataNoType()
                    }
                    get {
                        _$observationRegistrar.access(self, keyPath: \\.`\(name)`)
                        return self.get\(kind)(forKey: \\.`\(name)`)
                    }
                    set {
                        _$observationRegistrar.withMutation(of: self, keyPath: \\.`\(name)`) {
                            self.set\(kind)(forKey: \\.`\(name)`, to: newValue)
                        }
                    }
                }
                """)
    }

    /// The stored property that stands for the variable, so that the compiler reports initializers that leave it out.
    package var peer: MacroExpansion {
        MacroExpansion(source: "@\(ModuleNames.swiftData)Transient private var _\(name): _SwiftDataNoType")
    }
}
