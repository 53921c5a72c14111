import CoreDataModel
import Foundation
import PredicateFormat

/// Checks a predicate's keys before it is evaluated with objects in memory, where a wrong key would stop the program.
package enum PredicateKeys {
    /// - Throws: an `NSError` that names the key which an entity does not have, or the to-many key path that needs a
    ///   quantifier.
    package static func check(_ predicate: PredicateTree, of entity: EntityLayout) throws {
        try check(predicate, Places(entity: entity))
    }

    /// Checks a predicate's keys, and that it can be evaluated at all.
    ///
    /// - Throws: an `NSError` that says why it cannot.
    package static func checkEvaluation(_ predicate: PredicateTree, of entity: EntityLayout) throws {
        let obstacle = predicate.obstacle ?? predicate.openVariable.map { "the variable $\($0) has no value" }
        if let obstacle {
            throw StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(obstacle).")
        }
        try check(predicate, of: entity)
    }

    /// Checks an expression that is to have one value.
    ///
    /// - Throws: an `NSError` that names the key which an entity does not have, or the key path that leads to many
    ///   objects.
    package static func checkOne(_ expression: ExpressionTree, of entity: EntityLayout) throws {
        let places = Places(entity: entity)
        try demandOne(try end(of: expression, places), expression, places)
    }

    /// Whether an expression is the objects of a to-many relationship, or their values.
    ///
    /// - Throws: an `NSError` that names the key which an entity does not have.
    package static func leadsToMany(_ expression: ExpressionTree, of entity: EntityLayout) throws -> Bool {
        if case .many = try end(of: expression, Places(entity: entity)) { return true }
        return false
    }

    /// Whether a key path passes a to-many relationship on its way; false if a key is not known.
    package static func leadsToMany(_ keys: [String], from entity: EntityLayout) -> Bool {
        guard case .many = try? follow(keys, from: .object(entity)) else { return false }
        return true
    }

    /// Whether the last key of a path is a to-many relationship; false if a key is not known.
    package static func endsToMany(_ keys: [String], from entity: EntityLayout) -> Bool {
        guard let last = keys.last, let end = try? follow(keys.dropLast(), of: keys, from: .object(entity)) else {
            return false
        }
        switch end {
        case .object(let entity), .many(let entity?):
            if case .toMany = entity.owner(ofProperty: last)?.propertyByName[last] { return true }
            return false
        case .unknown, .value, .many(nil): return false
        }
    }

    /// The entities of the evaluated object and of the variables; nil for an unknown entity.
    private struct Places {
        let entity: EntityLayout
        var variables: [String: EntityLayout?] = [:]
    }

    /// The end of a key path.
    private enum End {
        case unknown
        case value
        case object(EntityLayout)
        /// Several values; with their entity if they are objects.
        case many(EntityLayout?)
    }

    private static func check(_ tree: PredicateTree, _ places: Places) throws {
        switch tree {
        case .constant: return
        case .and(let parts), .or(let parts): for part in parts { try check(part, places) }
        case .not(let part): try check(part, places)
        case .comparison(let comparison): try check(comparison, places)
        }
    }

    private static func check(_ comparison: ComparisonTree, _ places: Places) throws {
        let left = try end(of: comparison.left, places)
        let right = try end(of: comparison.right, places)
        guard comparison.modifier == .direct else { return }
        switch comparison.comparison {
        case .in: try demandOne(left, comparison.left, places)
        case .contains: try demandOne(right, comparison.right, places)
        case .between: try demandOne(left, comparison.left, places)
        case .equalTo, .notEqualTo:
            // With nil, or another collection, a relationship is compared as a whole.
            if comparison.right.isOneConstant { try demandOne(left, comparison.left, places) }
            if comparison.left.isOneConstant { try demandOne(right, comparison.right, places) }
        default:
            try demandOne(left, comparison.left, places)
            try demandOne(right, comparison.right, places)
        }
    }

    private static func demandOne(_ end: End, _ tree: ExpressionTree, _ places: Places) throws {
        guard case .many = end else { return }
        switch tree {
        case .keyPath(let keys), .path(_, let keys): throw KeyPathError.toMany(keys, entity: places.entity)
        default: return
        }
    }

    private static func end(of tree: ExpressionTree, _ places: Places) throws -> End {
        switch tree {
        case .evaluatedObject: return .object(places.entity)
        case .keyPath(let keys): return try follow(keys, from: .object(places.entity))
        case .variable(let name): return places.variables[name].flatMap { $0 }.map { .object($0) } ?? .unknown
        case .path(let origin, let keys): return try follow(keys, from: try end(of: origin, places))
        case .subquery(let collection, let variable, let predicate):
            let many = try end(of: collection, places)
            var inner = places
            inner.variables[variable] = .some(nil)
            // For a to-one relationship, its object or none.
            switch many {
            case .many(let entity): inner.variables[variable] = .some(entity)
            case .object(let entity): inner.variables[variable] = .some(entity)
            case .value: throw KeyPathError.noRelationship(collection, entity: places.entity)
            case .unknown: break
            }
            try check(predicate, inner)
            if case .object(let entity) = many { return .many(entity) }
            return many
        case .conditional(let condition, let first, let second):
            try check(condition, places)
            _ = try end(of: first, places)
            _ = try end(of: second, places)
            return .unknown
        default:
            for part in tree.parts { _ = try end(of: part, places) }
            return .unknown
        }
    }

    private static func follow(_ path: [String], from start: End) throws -> End {
        try follow(path[...], of: path, from: start)
    }

    private static func follow(_ keys: ArraySlice<String>, of path: [String], from start: End) throws -> End {
        var end = start
        for position in keys.indices {
            switch try step(keys[position], before: keys[(position + 1)...], of: path, from: end) {
            case .next(let next): end = next
            case .last(let last): return last
            }
        }
        return end
    }

    /// Where a key leads.
    private enum Step {
        /// The path goes on from there.
        case next(End)
        /// The path ends there, whatever keys follow.
        case last(End)
    }

    private static func step(
        _ key: String, before rest: ArraySlice<String>, of path: [String], from end: End
    ) throws -> Step {
        let entity: EntityLayout
        let isMany: Bool
        switch end {
        case .object(let layout): (entity, isMany) = (layout, false)
        case .many(let layout?): (entity, isMany) = (layout, true)
        case .many(nil) where !key.hasPrefix("@"): return .last(end)
        default: return .last(.unknown)
        }
        if key.hasPrefix("@") {
            guard let operation = CollectionOperator(rawValue: key) else {
                throw KeyPathError.unknownKey(key, path: path, entity: entity)
            }
            // It gives one value, or a collection of the values of the following keys.
            if operation.takesKeyPath { _ = try follow(rest, of: path, from: end) }
            return .last(operation.givesCollection ? .many(nil) : .unknown)
        }
        if key == "self" || key == "SELF" { return .next(end) }
        if key == "objectID" || key == "entity", entity.propertyByName[key] == nil { return .last(.unknown) }
        guard let owner = entity.owner(ofProperty: key), let place = owner.propertyByName[key] else {
            throw KeyPathError.unknownKey(key, path: path, entity: entity)
        }
        switch place {
        case .slot(let slot):
            if let attribute = owner.slots[slot].attribute {
                if !attribute.isOpen {
                    try checkParts(rest, path, entity: owner)
                } else if !isMany {
                    return .last(.unknown)
                }
            }
            let destination = owner.slots[slot].relationship?.destination
            if isMany { return .next(.many(destination)) }
            // Parts of a value, such as its length, are not properties.
            return destination.map { .next(.object($0)) } ?? .last(.value)
        case .toMany(let index): return .next(.many(owner.relationships[index].destination))
        case .fetched: return .last(.unknown)
        }
    }

    /// Checks keys that follow an attribute.
    private static func checkParts(_ keys: ArraySlice<String>, _ path: [String], entity: EntityLayout) throws {
        if let key = keys.first(where: { !$0.hasPrefix("@") && !Value.isPart($0) }) {
            throw KeyPathError.unknownKey(key, path: path, entity: entity)
        }
    }
}

extension AttributeLayout {
    /// Whether the values may be collections, or have keys of their own.
    fileprivate var isOpen: Bool { !type.isPlain }
}

extension EntityLayout {
    /// The entity that has a property: this one or, if it has none with that name, one of its subentities. Predicates
    /// on objects of an entity may use properties that only some of them have.
    package func owner(ofProperty name: String) -> EntityLayout? {
        if propertyByName[name] != nil { return self }
        return selfAndSubentities.first { $0.propertyByName[name] != nil }
    }

    /// The entities among this one and its subentities that declare a property. Several subentities may, each its own.
    package func declarers(ofProperty name: String) -> [EntityLayout] {
        selfAndSubentities.filter {
            $0.propertyByName[name] != nil && ($0 === self || $0.superentity?.propertyByName[name] == nil)
        }
    }
}

extension ExpressionTree {
    /// Whether the expression is a constant that is neither nil nor a collection.
    fileprivate var isOneConstant: Bool {
        guard case .constant(let value) = self else { return false }
        return !value.isNull && value.elements == nil
    }
}

/// The errors of key paths that are invalid in a fetch.
package enum KeyPathError {
    /// A key that an entity does not have.
    package static func unknownKey(_ key: String, path: [String], entity: EntityLayout) -> NSError {
        let known = entity.propertyByName.keys.sorted().joined(separator: ", ")
        return StoreError.make(
            CoreDataErrorCode.coreData,
            "Entity “\(entity.name)” has no property “\(key)” (in “\(path.joined(separator: "."))”). It has: \(known).")
    }

    /// A subquery of something else than objects.
    package static func noRelationship(_ collection: ExpressionTree, entity: EntityLayout) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "The predicate cannot be used: SUBQUERY takes a relationship of entity “\(entity.name)”, and "
                + "“\(collection.format)” is not one.")
    }

    /// A to-many key path where one value is needed.
    package static func toMany(_ path: [String], entity: EntityLayout) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "“\(path.joined(separator: "."))” of entity “\(entity.name)” leads to many objects, where one value is needed.",
            suggestion: "Put ANY, ALL or NONE before it, or compute one value with @count, @sum, @min, @max or @avg.")
    }
}
