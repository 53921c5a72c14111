import Foundation

/// Checks a model before descriptions are made from it, for what descriptions cannot represent, such as two entities of
/// one name or a name that leads nowhere.
package enum DocumentCheck {
    /// Deeper than any real model, and shallow enough for recursion on any stack.
    package static let maximumInheritance = 100

    /// How many levels of composite attributes one may have within it.
    package static let maximumCompositeDepth = 32

    package static func check(_ document: ModelDocument) throws {
        var byName: [String: EntityDocument] = [:]
        for entity in document.entities {
            guard !entity.name.isEmpty else { throw ModelFileError(reason: "an entity has no name") }
            guard byName.updateValue(entity, forKey: entity.name) == nil else {
                throw ModelFileError(entity: entity.name, reason: "there are two entities of this name")
            }
        }
        for entity in document.entities { try checkInheritance(of: entity, byName) }
        let relationships = byName.mapValues { entity in
            Set(entity.properties.filter { $0.relationship != nil }.map(\.name))
        }
        for entity in document.entities {
            let inherited = ancestors(of: entity, byName)
            try checkProperties(of: entity, inherited: inherited, byName, relationships)
            try checkNames(in: entity, inherited: inherited)
        }
        for (name, members) in document.configurations.sorted(by: { $0.key < $1.key }) {
            for member in members where byName[member] == nil {
                var error = ModelFileError(
                    reason:
                        "the configuration “\(name)” has the member “\(member)”, which is not an entity of the model")
                error.part = .init(element: "configuration", name: name)
                throw error
            }
        }
        for (name, request) in document.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
            var error = ModelFileError(reason: "the fetch request “\(name)”")
            error.part = .init(element: "fetchRequest", name: name)
            try checkEntity(of: request, error, byName)
        }
    }

    private static func checkInheritance(of entity: EntityDocument, _ byName: [String: EntityDocument]) throws {
        var seen: Set<String> = [entity.name]
        var parentName = entity.parentName
        while let name = parentName {
            guard let parent = byName[name] else {
                throw ModelFileError(
                    entity: entity.name, reason: "its parent entity “\(name)” is not an entity of the model")
            }
            guard seen.insert(name).inserted else {
                throw ModelFileError(entity: entity.name, reason: "it inherits from itself, by way of “\(name)”")
            }
            guard seen.count <= maximumInheritance else {
                throw ModelFileError(
                    entity: entity.name, reason: "it inherits over more than \(maximumInheritance) levels")
            }
            parentName = parent.parentName
        }
    }

    /// The superentities of an entity, whose inheritance has been checked.
    package static func ancestors(of entity: EntityDocument, _ byName: [String: EntityDocument]) -> [EntityDocument] {
        var result: [EntityDocument] = []
        var parent = entity.parentName.flatMap { byName[$0] }
        while let current = parent {
            result.append(current)
            parent = current.parentName.flatMap { byName[$0] }
        }
        return result
    }

    private static func checkProperties(
        of entity: EntityDocument, inherited: [EntityDocument], _ byName: [String: EntityDocument],
        _ relationships: [String: Set<String>]
    ) throws {
        var owners: [String: String] = [:]
        for ancestor in inherited.reversed() {
            for property in ancestor.properties { owners[property.name] = ancestor.name }
        }
        var names: Set<String> = []
        for property in entity.properties {
            func error(_ reason: String) -> ModelFileError {
                ModelFileError(entity: entity.name, property: property.name, reason: reason)
            }
            guard !property.name.isEmpty else {
                throw ModelFileError(entity: entity.name, reason: "a property has no name")
            }
            guard names.insert(property.name).inserted else { throw error("there are two properties of this name") }
            if let owner = owners[property.name] {
                throw error("it is declared by the parent entity “\(owner)” already")
            }
            switch property.kind {
            case .attribute(let attribute):
                if attribute.type == .undefinedAttributeType, !property.isTransient {
                    throw error("it has no type; only transient attributes may have none")
                }
                try checkElements(of: attribute, at: property.name, entity: entity.name, depth: 0)
            case .relationship(let relationship):
                try check(relationship, property: property.name, entity: entity, byName, relationships)
            case .fetched(let request):
                if let request { try checkEntity(of: request, error("its fetch request"), byName) }
            }
        }
    }

    /// The elements of a composite attribute: each has a column of its own.
    private static func checkElements(
        of attribute: AttributeDocument, at path: String, entity: String, depth: Int
    ) throws {
        if attribute.elements.isEmpty { return }
        guard depth < maximumCompositeDepth else {
            throw ModelFileError(
                entity: entity, property: path,
                reason: "composite attributes contain one another over more than \(maximumCompositeDepth) levels")
        }
        var names: Set<String> = []
        for element in attribute.elements {
            func error(_ reason: String) -> ModelFileError {
                ModelFileError(entity: entity, property: path, reason: reason)
            }
            guard !element.name.isEmpty else { throw error("an element has no name") }
            guard names.insert(element.name).inserted else {
                throw error("there are two elements of the name “\(element.name)”")
            }
            guard let inner = element.attribute else {
                throw error("its element “\(element.name)” is not an attribute")
            }
            guard inner.type != .undefinedAttributeType else {
                throw error("its element “\(element.name)” has no type")
            }
            try checkElements(of: inner, at: path + "." + element.name, entity: entity, depth: depth + 1)
        }
    }

    private static func check(
        _ relationship: RelationshipDocument, property: String, entity: EntityDocument,
        _ byName: [String: EntityDocument], _ relationships: [String: Set<String>]
    ) throws {
        func error(_ reason: String) -> ModelFileError {
            ModelFileError(entity: entity.name, property: property, reason: reason)
        }
        guard let destinationName = relationship.destinationName else {
            throw error("the relationship has no destination entity")
        }
        guard let destination = byName[destinationName] else {
            throw error("its destination “\(destinationName)” is not an entity of the model")
        }
        guard let inverseName = relationship.inverseName else { return }
        let family = [destination] + ancestors(of: destination, byName)
        guard family.contains(where: { relationships[$0.name]?.contains(inverseName) ?? false }) else {
            throw error("its inverse “\(inverseName)” is not a relationship of the entity “\(destinationName)”")
        }
    }

    /// Checks the properties that constraints and indexes name.
    private static func checkNames(in entity: EntityDocument, inherited: [EntityDocument]) throws {
        let known = Set(([entity] + inherited).flatMap { $0.properties.map(\.name) })
        let all = ([entity] + inherited).flatMap(\.properties)
        for name in entity.uniquenessConstraints.joined()
        where !known.contains(name) && !all.contains(where: { $0.hasElement(name) }) {
            throw ModelFileError(
                entity: entity.name,
                reason: "a uniqueness constraint names “\(name)”, which is not one of its properties: \(known.listed)")
        }
        for index in entity.indexes {
            for name in index.elements.compactMap(\.propertyName) where !known.contains(name.firstKey) {
                throw ModelFileError(
                    entity: entity.name,
                    reason:
                        "the index “\(index.name)” names “\(name)”, which is not one of its properties: \(known.listed)"
                )
            }
        }
    }

    private static func checkEntity(
        of request: FetchRequestDocument, _ subject: ModelFileError, _ byName: [String: EntityDocument]
    ) throws {
        guard byName[request.entityName] == nil else { return }
        var error = subject
        error.reason += " is for “\(request.entityName)”, which is not an entity of the model"
        throw error
    }
}

extension PropertyDocument {
    /// Whether a key path leads to an element of the composite attribute, at any depth: `magnitude.richter`.
    fileprivate func hasElement(_ keyPath: String) -> Bool {
        var keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        guard keys.popFirst() == name, !keys.isEmpty else { return false }
        var attribute = self.attribute
        for key in keys { attribute = attribute?.elements.first { $0.name == key }?.attribute }
        return attribute != nil && attribute?.type != .compositeAttributeType
    }
}

extension String {
    /// Constraints and indexes may name an element of a composite attribute: `magnitude.richter`.
    var firstKey: String { split(separator: ".").first.map(String.init) ?? self }
}

extension Set<String> {
    fileprivate var listed: String { sorted().joined(separator: ", ") }
}

extension ModelDocument {
    /// The model with the indexes that follow from properties marked as “indexed”, and from compound indexes of the
    /// time before fetch indexes: in addition to the listed indexes, Core Data makes one with the property's name, or
    /// with the properties' names joined by `_`.
    package var withImpliedIndexes: ModelDocument {
        var result = self
        let names = entities.allSatisfy(\.compoundIndexes.isEmpty) ? [] : propertyNames
        for position in result.entities.indices {
            let entity = result.entities[position]
            let compound = entity.impliedCompoundIndexes.filter { $0.isMade(of: names[position]) }
            // A compound index of one “indexed” property is the index that the mark makes.
            var known = Set(entity.indexes.map(\.name))
            let implied = (entity.impliedIndexes + compound).filter { known.insert($0.name).inserted }
            result.entities[position].indexes.insert(contentsOf: implied, at: 0)
        }
        return result
    }

    /// The model without the indexes that follow from marks, as a compiled model keeps it.
    package var withoutImpliedIndexes: ModelDocument {
        var result = self
        for position in result.entities.indices {
            let implied = result.entities[position].impliedIndexes
            result.entities[position].indexes.removeAll { implied.contains($0) }
        }
        return result
    }

    /// Removes the indexes that name what their entity does not have. Losing an index loses no data, whereas a store
    /// whose copy of its model is refused cannot be read.
    package mutating func forgetLostIndexes() {
        let names = propertyNames
        for position in entities.indices { entities[position].indexes.removeAll { !$0.isMade(of: names[position]) } }
    }

    /// The names of the properties of each entity, inherited ones included, at its place.
    private var propertyNames: [Set<String>] {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return entities.map { entity in
            var names = Set(entity.properties.map(\.name))
            // The inheritance may not have been checked yet, and be circular.
            var seen: Set<String> = [entity.name]
            var parent = entity.parentName.flatMap { byName[$0] }
            while let current = parent, seen.insert(current.name).inserted,
                seen.count <= DocumentCheck.maximumInheritance
            {
                names.formUnion(current.properties.map(\.name))
                parent = current.parentName.flatMap { byName[$0] }
            }
            return names
        }
    }
}

extension IndexDocument {
    fileprivate func isMade(of names: Set<String>) -> Bool {
        elements.compactMap(\.propertyName).allSatisfy { names.contains($0.firstKey) }
    }
}

extension EntityDocument {
    fileprivate var impliedIndexes: [IndexDocument] {
        properties.filter(\.isIndexed).map { property in
            IndexDocument(name: property.name, elements: [IndexElementDocument(.property(property.name))])
        }
    }

    /// The compound indexes whose properties no fetch index of the entity covers.
    fileprivate var impliedCompoundIndexes: [IndexDocument] {
        compoundIndexesBesideFetchIndexes.filter { !$0.isEmpty }.map { names in
            IndexDocument(
                name: names.joined(separator: "_"), elements: names.map { IndexElementDocument(.property($0)) })
        }
    }

    /// The compound indexes for which there is no fetch index over the same properties.
    package var compoundIndexesBesideFetchIndexes: [[String]] {
        // Apple's compiler lists partial indexes, too, and expressions by what they say (“self”, “entity”).
        let listed = indexes.filter { $0.elements.count > 1 }.map { index in index.elements.map(\.propertyName) }
        return compoundIndexes.filter { names in
            !listed.contains { elements in
                elements.count == names.count && zip(elements, names).allSatisfy { $0 == nil || $0 == $1 }
            }
        }
    }
}
