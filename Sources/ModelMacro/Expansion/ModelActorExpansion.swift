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
