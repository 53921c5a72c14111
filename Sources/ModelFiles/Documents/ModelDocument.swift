import Foundation

/// A model as a value: the content of every kind of model file, free of classes, so that models can be compared, and
/// readers and writers are functions.
package struct ModelDocument: Equatable, Sendable {
    package var entities: [EntityDocument] = []
    /// The names of the member entities of each configuration.
    package var configurations: [String: [String]] = [:]
    package var fetchRequestTemplates: [String: FetchRequestDocument] = [:]
    /// The developer's identifiers of this version.
    package var versionIdentifiers: [String] = []
    /// The parts of the file that could not be read. Only from compiled models and model caches.
    package var losses: [ArchiveLoss] = []

    package init() {}

    package func entity(named name: String) -> EntityDocument? { entities.first { $0.name == name } }

    /// The same model in canonical order, without what only source files contain: the content of a compiled model.
    package var compiled: ModelDocument {
        var result = self
        result.entities = entities.map(\.compiled).sorted { $0.name < $1.name }
        result.configurations = configurations.mapValues { $0.sorted() }
        result.versionIdentifiers = versionIdentifiers.sorted()
        return result
    }
}

/// An entity as a value.
package struct EntityDocument: Equatable, Sendable {
    package var name: String
    /// The name of the class of the entity's objects; nil for `NSManagedObject`.
    package var className: String?
    package var isAbstract = false
    /// The entity that this one inherits from.
    package var parentName: String?
    /// The properties that the entity itself declares.
    package var properties: [PropertyDocument] = []
    package var uniquenessConstraints: [[String]] = []
    package var indexes: [IndexDocument] = []
    /// Indexes over several properties, from before fetch indexes existed.
    package var compoundIndexes: [[String]] = []
    /// The expression for the name that Spotlight shows; it has no meaning for a store.
    package var spotlightDisplayName: ExpressionTree?
    package var userInfo: [String: ModelValue] = [:]
    package var versionHashModifier: String?
    /// The name in the previous version of the model, if it differs.
    package var renamingIdentifier: String?
    /// What Xcode generates for the entity. Source files only.
    package var codeGeneration = CodeGeneration.none
    /// Whether the class belongs to the module that the model is compiled for. Source files only.
    package var isClassInCurrentModule = false

    package init(name: String) { self.name = name }

    package func property(named name: String) -> PropertyDocument? { properties.first { $0.name == name } }

    /// Whether a name in a uniqueness constraint is that of an element of a composite attribute, `home.city`. Compiled
    /// models may have such constraints, sources may not.
    package func isElement(_ name: String) -> Bool { name != name.firstKey && property(named: name) == nil }

    var compiled: EntityDocument {
        var result = self
        result.properties = properties.map(\.compiled).sorted { $0.name < $1.name }
        result.codeGeneration = .none
        result.isClassInCurrentModule = false
        return result
    }
}

/// What Xcode generates for an entity: its class with accessors, accessors only, or nothing.
package enum CodeGeneration: String, Equatable, Sendable {
    case classDefinition = "class"
    case categoryExtension = "category"
    case none = ""
}

/// A fetch index as a value.
package struct IndexDocument: Equatable, Sendable {
    package var name: String
    package var elements: [IndexElementDocument]
    /// The condition on the index's rows; nil for all rows.
    package var predicate: PredicateTree?

    package init(name: String, elements: [IndexElementDocument], predicate: PredicateTree? = nil) {
        self.name = name
        self.elements = elements
        self.predicate = predicate
    }
}

/// One property or expression that a fetch index covers.
package struct IndexElementDocument: Equatable, Sendable {
    package enum Subject: Equatable, Sendable {
        case property(String)
        case expression(name: String, ExpressionTree?, NSAttributeType)
    }

    package var subject: Subject
    package var type: NSFetchIndexElementType
    package var isAscending: Bool

    package init(_ subject: Subject, type: NSFetchIndexElementType = .binary, isAscending: Bool = true) {
        self.subject = subject
        self.type = type
        self.isAscending = isAscending
    }

    /// The name of an expression in a source, where it has none. A compiled model numbers these: `expression1`.
    static let expressionName = "expression"

    static func isNumbered(_ name: String) -> Bool {
        name.hasPrefix(expressionName) && name.utf8.dropFirst(expressionName.utf8.count).allSatisfy { 48...57 ~= $0 }
    }

    package var propertyName: String? {
        if case .property(let name) = subject { return name }
        return nil
    }
}

extension EntityDocument {
    /// Adds what Apple's compiler records for the time before fetch indexes: an index over one attribute marks the
    /// attribute, and one over several properties is listed as a compound index.
    mutating func markIndexedProperties() {
        let positions = Dictionary(
            properties.indices.map { (properties[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in indexes where index.predicate == nil {
            let names = index.elements.compactMap(\.propertyName)
            guard names.count == index.elements.count else { continue }
            if names.count > 1 {
                if !compoundIndexes.contains(names) { compoundIndexes.append(names) }
            } else if let position = names.first.flatMap({ positions[$0] }), properties[position].attribute != nil {
                properties[position].isIndexed = true
            }
        }
    }
}

/// A fetch request of a model, as a template or in a fetched property, as a value.
package struct FetchRequestDocument: Equatable, Sendable {
    package var entityName: String
    package var predicate: PredicateTree?
    package var sortTerms: [SortTerm] = []
    package var limit = 0
    package var offset = 0
    package var batchSize = 0
    package var resultType: UInt = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var refreshesRefetchedObjects = false
    package var prefetchedKeyPaths: [String] = []
    package var propertiesToFetch: [String] = []
    package var propertiesToGroupBy: [String] = []
    package var havingPredicate: PredicateTree?

    package init(entityName: String) { self.entityName = entityName }

    /// What a request fetches if its source does not say, as Apple's compiler has it: object IDs (1) without the
    /// values, dictionaries (2) without pending changes.
    package static func implied(byResultType type: UInt) -> (propertyValues: Bool, pendingChanges: Bool) {
        (type != 1, type != 2)
    }
}

/// A property of an archived model that could not be read, since its archive contains an object of an unknown class.
package struct ArchiveLoss: Equatable, Sendable {
    package let entity: String
    package let property: String
    /// The class that is not known.
    package let className: String

    /// `“Car.maker” (an object of the unknown class XYProperty)`
    package var text: String { "“\(entity).\(property)” (an object of the unknown class \(className))" }
}

extension ModelDocument {
    /// Removes references to properties that could not be read from inverses, constraints and indexes.
    mutating func forgetLostProperties() {
        guard !losses.isEmpty else { return }
        let names = Dictionary(grouping: losses, by: \.entity).mapValues { Set($0.map(\.property)) }
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // Subentities lose the properties that their superentity lost.
        func lost(_ entity: EntityDocument) -> Set<String> {
            var missing: Set<String> = []
            var seen: Set<String> = []
            var next: EntityDocument? = entity
            // The inheritance has not been checked yet, and may be circular.
            while let current = next, seen.insert(current.name).inserted {
                missing.formUnion(names[current.name] ?? [])
                next = current.parentName.flatMap { byName[$0] }
            }
            return missing
        }
        for position in entities.indices {
            let missing = lost(entities[position])
            entities[position].uniquenessConstraints.removeAll { !missing.isDisjoint(with: $0) }
            entities[position].compoundIndexes.removeAll { !missing.isDisjoint(with: $0) }
            entities[position].indexes.removeAll { !missing.isDisjoint(with: $0.elements.compactMap(\.propertyName)) }
            for property in entities[position].properties.indices {
                guard var relationship = entities[position].properties[property].relationship,
                    let destination = relationship.destinationName.flatMap({ byName[$0] }),
                    let inverse = relationship.inverseName, lost(destination).contains(inverse)
                else { continue }
                relationship.inverseName = nil
                entities[position].properties[property].kind = .relationship(relationship)
            }
        }
    }
}

extension ModelDocument {
    /// The part of a model that a store of one configuration has: some of the entities, with their superentities,
    /// without the properties that lead to others. Such properties have no values: an object has no relationship with
    /// one of another store. Pure.
    ///
    /// - Parameter names: the entities that the store has.
    /// - Returns: the part; nil if it is the whole model, or some of the entities are not in the model.
    package func limited(to names: Set<String>) -> ModelDocument? {
        guard !names.isEmpty, names.allSatisfy({ entity(named: $0) != nil }) else { return nil }
        var kept = names
        for name in names {
            var next = entity(named: name)?.parentName
            while let parent = next, kept.insert(parent).inserted { next = entity(named: parent)?.parentName }
        }
        guard kept.count < entities.count else { return nil }
        var result = self
        result.entities = entities.filter { kept.contains($0.name) }.map { $0.limited(to: kept) }
        result.configurations = configurations.mapValues { $0.filter(kept.contains) }.filter { !$0.value.isEmpty }
        result.fetchRequestTemplates = fetchRequestTemplates.filter { kept.contains($0.value.entityName) }
        return result
    }
}

extension EntityDocument {
    fileprivate func limited(to kept: Set<String>) -> EntityDocument {
        let left = Set(properties.filter { $0.leads(outOf: kept) }.map(\.name))
        guard !left.isEmpty else { return self }
        func remain(_ names: [String]) -> Bool { !names.contains { left.contains($0.firstKey) } }
        var result = self
        result.properties = properties.filter { !left.contains($0.name) }
        result.indexes = indexes.filter { remain($0.elements.compactMap(\.propertyName)) }
        result.compoundIndexes = compoundIndexes.filter(remain)
        result.uniquenessConstraints = uniquenessConstraints.filter(remain)
        return result
    }
}

extension PropertyDocument {
    /// Whether it leads to an entity that is not among some.
    fileprivate func leads(outOf kept: Set<String>) -> Bool {
        switch kind {
        case .attribute: return false
        case .relationship(let relationship): return relationship.destinationName.map { !kept.contains($0) } ?? false
        case .fetched(let request): return request.map { !kept.contains($0.entityName) } ?? false
        }
    }
}

/// A value in a model file: the default of an attribute, an entry of user info, a validation warning.
package indirect enum ModelValue: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(String)
    case array([ModelValue])
    case dictionary([String: ModelValue])
    /// An object whose class exists only in the program that made the file. Kept so that it can be written again.
    case archived(KeyedArchiveFragment)
}

extension ModelValue {
    /// The value as Core Data returns it; nil for an archived object.
    package var object: Any? {
        switch self {
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .url(let value): URL(string: value)
        case .array(let values): values.compactMap(\.object)
        case .dictionary(let values): values.compactMapValues(\.object)
        case .archived: nil
        }
    }

    /// The value of an object from Core Data; nil for an object that no model file can hold.
    package init?(object: Any) {
        switch object {
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as Decimal: self = .decimal(value)
        case let value as NSNumber:
            switch PropertyList.number(value) {
            case .boolean(let value): self = .boolean(value)
            case .real(let value): self = .double(value)
            default: self = .integer(value.int64Value)
            }
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let value as UUID: self = .uuid(value)
        case let value as URL: self = .url(value.absoluteString)
        case let values as [Any]:
            self = .array(values.compactMap(ModelValue.init(object:)))
        case let values as [AnyHashable: Any]:
            let pairs = values.compactMap { key, value in
                ModelValue(object: value).map { ((key.base as? String) ?? "\(key.base)", $0) }
            }
            self = .dictionary(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
        default: return nil
        }
    }
}
