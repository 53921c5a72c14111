/// The expansions of SwiftData's macros.
package enum SwiftDataExpansion {
    /// The answer of the macro that a message names.
    package static func expand(_ attached: CompilerMessage.Attached) -> MacroExpansion {
        let source = attached.declSyntax.source
        switch (attached.macro.typeName ?? attached.macro.name, attached.macroRole) {
        case ("PersistentModelMacro", "memberAttribute"): return PersistentModelExpansion.attribute(ofMember: source)
        case ("PersistentModelMacro", "extension"):
            return PersistentModelExpansion.extensions(
                of: attached.typeName(or: ClassDeclaration(source).name), conformances: attached.conformances)
        case ("PersistentModelMacro", _):
            return PersistentModelExpansion(of: ClassDeclaration(source), conformances: attached.conformances).members
        case ("PersistedPropertyMacro", let role), ("TransformablePersistedPropertyMacro", let role):
            let isTransformable = attached.macro.typeName == "TransformablePersistedPropertyMacro"
            let expansion = PersistedPropertyExpansion(of: source, isTransformable: isTransformable)
            return (role == "accessor" ? expansion?.accessors : expansion?.peer) ?? MacroExpansion()
        case ("PersistentModelActorMacro", "extension"):
            return ModelActorExpansion.extensions(
                of: attached.typeName(or: ClassDeclaration(source).name), conformances: attached.conformances)
        case ("PersistentModelActorMacro", _): return ModelActorExpansion(of: ClassDeclaration(source)).members
        // @Attribute, @Relationship and @Transient only mark what @Model reads.
        default: return MacroExpansion()
        }
    }
}

/// The expansion of `@_PersistedProperty` for a variable of a model, which `@Model` attaches.
package struct PersistedPropertyExpansion {
    private let name: String
    /// How values are read and written: `Value`, or `TransformableValue` for those of a transformer.
    private let kind: String
    /// Whether the variable is written as an array, which programs append to.
    private let isArray: Bool
    /// Whether the variable's type may be a model, as far as its name shows.
    private let mayBeRelationship: Bool

    /// Fails for what is not a single variable, which the compiler reports.
    ///
    /// - Parameters:
    ///   - source: the variable.
    ///   - isTransformable: whether a transformer makes bytes of its values.
    package init?(of source: String, isTransformable: Bool) {
        guard let variable = ClassDeclaration.Variable(source) else { return nil }
        name = variable.name
        kind = isTransformable ? "TransformableValue" : "Value"
        isArray = !isTransformable && variable.isArray
        mayBeRelationship = !isTransformable && variable.mayBeRelationship
    }

    /// The accessors.
    ///
    /// The one for initializers writes the backing data alone, since there is no model to call yet. The others make
    /// one call with one key path, for the compiler to have less to do. An array can also be changed in its place.
    package var accessors: MacroExpansion {
        MacroExpansion(
            source: """
                {
                    @storageRestrictions(accesses: _$backingData, initializes: _\(name))
                    init(initialValue) {\(mayBeRelationship ? noting : "")
                        _$backingData.set\(kind)(forKey: \\.`\(name)`, to: initialValue)
                        _\(name) = _SwiftDataNoType()
                    }
                    get { _$get\(kind)(forKey: \\.`\(name)`) }
                    set { _$set\(kind)(forKey: \\.`\(name)`, to: newValue) }\(isArray ? modifying : "")
                }
                """)
    }

    /// The other side of a relationship shows the model from then on.
    private var noting: String {
        """

                \(ModuleNames.swiftData)_$noteModel(&_$backingData)
        """
    }

    private var modifying: String {
        """

            _modify {
                var value = _$beginModifying(forKey: \\.`\(name)`)
                defer { _$endModifying(forKey: \\.`\(name)`, &value) }
                yield &value
            }
        """
    }

    /// The stored property that stands for the variable, so that the compiler reports initializers that leave it out.
    package var peer: MacroExpansion {
        MacroExpansion(source: "@\(ModuleNames.swiftData)Transient private var _\(name): _SwiftDataNoType")
    }
}

/// The expansion of SwiftData's `@ModelActor` for an actor.
package struct ModelActorExpansion {
    private let declaration: ClassDeclaration

    /// - Parameter declaration: the actor.
    package init(of declaration: ClassDeclaration) { self.declaration = declaration }

    /// The executor, the container, and an initializer, unless the actor declares one.
    package var members: MacroExpansion {
        guard declaration.keyword == "actor" else {
            return MacroExpansion(
                problems: ["@ModelActor can only be applied to an actor, not to this \(declaration.keyword)."])
        }
        let data = ModuleNames.swiftData
        let access =
            switch declaration.access {
            case "public", "open": "public "
            case "package": "package "
            default: ""
            }
        var source = """
            \(access)nonisolated let modelExecutor: any \(data)ModelExecutor

            \(access)nonisolated let modelContainer: \(data)ModelContainer
            """
        if !declaration.hasInitializer {
            source += """


                \(access)init(modelContainer: \(data)ModelContainer) {
                    let modelContext = \(data)ModelContext(modelContainer)
                    self.modelExecutor = \(data)DefaultSerialModelExecutor(modelContext: modelContext)
                    self.modelContainer = modelContainer
                }
                """
        }
        return MacroExpansion(source: source)
    }

    /// The conformance of an actor.
    ///
    /// - Parameters:
    ///   - type: the actor, with the types that it is in.
    ///   - conformances: the protocols that it does not conform to yet.
    /// - Returns: the extensions.
    package static func extensions(of type: String, conformances: [String]) -> MacroExpansion {
        guard conformances.contains("ModelActor") else { return MacroExpansion() }
        return MacroExpansion(
            source: "extension \(type): \(ModuleNames.isolation)\(ModuleNames.swiftData)ModelActor {}")
    }
}
