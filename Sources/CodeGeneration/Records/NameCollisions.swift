/// The names of a model that are in the way of one another, or of what generated code uses: otherwise only the Swift
/// compiler would find them, in a file that nobody has written.
struct NameCollisions {
    private let model: RecordModel
    /// The first entity of each class whose code is generated.
    private let owners: [String: String]
    /// The types outside the model that the generated code uses.
    private let usedTypes: Set<String>

    init(_ model: RecordModel) {
        self.model = model
        let generated = model.entities.filter { $0.codeGeneration != .none && $0.hasOwnClass }
        owners = Dictionary(generated.map { ($0.className, $0.name) }) { first, _ in first }
        var types = ReservedNames.types
        for entity in generated {
            for attribute in entity.attributes where attribute.type != .transformable {
                types.formUnion(attribute.swiftType.split { "[]:? ".contains($0) }.map(String.init))
            }
            for relationship in entity.relationships where relationship.isToMany {
                types.formUnion(
                    relationship.isOrdered ? ReservedNames.orderedHelperTypes : ReservedNames.helperTypes)
            }
        }
        usedTypes = types
    }

    /// - Parameter entity: an entity with generated code.
    /// - Returns: the problems, with the property that has each; nil for the class.
    func problems(of entity: RecordEntity) -> [(property: String?, reason: String)] {
        guard entity.codeGeneration != .none, entity.hasOwnClass else { return [] }
        var problems: [(property: String?, reason: String)] = []
        let name = entity.className.escaped
        if let owner = owners[entity.className], owner != entity.name {
            problems.append(
                (nil, "its class “\(name)” is that of the entity “\(owner.escaped)” too, and is generated once"))
        }
        if usedTypes.contains(entity.className) {
            problems.append((nil, "its class “\(name)” has the name of a type that the generated code uses"))
        }
        let properties =
            entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
        for property in properties {
            if ReservedNames.properties.contains(property) {
                problems.append((property, "every managed object has a property of this name already"))
            } else if ReservedNames.calls.contains(property) {
                problems.append((property, "the generated code uses this name"))
            }
        }
        return problems + helperProblems(of: entity)
    }

    /// `books` and `Books` would both be changed by `addToBooks`.
    private func helperProblems(of entity: RecordEntity) -> [(property: String?, reason: String)] {
        var known: [String: String] = [:]
        for relationship in inherited(by: entity) { known[relationship.name.capitalizedFirst] = relationship.name }
        return entity.relationships.filter(\.isToMany).compactMap { relationship in
            let name = relationship.name.capitalizedFirst
            guard let other = known.updateValue(relationship.name, forKey: name) else { return nil }
            return (
                relationship.name,
                "its methods, such as “addTo\(name.escaped)”, would be those of “\(other.escaped)” too"
            )
        }
    }

    /// The to-many relationships of the generated classes that an entity's class inherits from.
    private func inherited(by entity: RecordEntity) -> [RecordRelationship] {
        var relationships: [RecordRelationship] = []
        var seen: Set<String> = [entity.name]
        var current = model.entity(entity.parent)
        while let parent = current, seen.insert(parent.name).inserted {
            if parent.codeGeneration != .none { relationships += parent.relationships.filter(\.isToMany) }
            current = model.entity(parent.parent)
        }
        return relationships
    }
}
