import CompactCollections
import Foundation

extension SourceReader {
    static func relationship(_ element: SourceElement, entity: String) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        var relationship = RelationshipDocument()
        relationship.destinationName = element.string("destinationEntity")
        relationship.inverseName = element.string("inverseName")
        relationship.isOrdered = try element.boolean("ordered", place)
        let isToMany = try element.boolean("toMany", place)
        relationship.minCount = try element.integer("minCount", place)
        relationship.maxCount = isToMany ? try element.integer("maxCount", place) : 1
        guard relationship.minCount >= 0 else {
            throw element.error(place, "minCount is \(relationship.minCount); 0 or more expected")
        }
        guard relationship.maxCount <= 0 || relationship.minCount <= relationship.maxCount else {
            throw element.error(
                place, "minCount is \(relationship.minCount), more than maxCount, which is \(relationship.maxCount)")
        }
        switch element.string("deletionRule") {
        case nil, "Nullify": relationship.deleteRule = .nullifyDeleteRule
        case "Cascade": relationship.deleteRule = .cascadeDeleteRule
        case "Deny": relationship.deleteRule = .denyDeleteRule
        case "No Action": relationship.deleteRule = .noActionDeleteRule
        case .some(let other):
            throw element.error(place, "deletionRule is “\(other)”; Nullify, Cascade, Deny or No Action expected")
        }
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        try readCommon(element, into: &property, place)
        property.isTransient = try element.boolean("transient", place)
        return property
    }

    static func fetchedProperty(_ element: SourceElement, entity: String) throws -> PropertyDocument {
        let name = try element.requiredName(.init(entity: entity))
        let place = SourceElement.Place(entity: entity, property: name)
        let request = try element.children(named: "fetchRequest").first.map { try fetchRequest($0, place) }
        var property = PropertyDocument(name: name, kind: .fetched(request))
        try readCommon(element, into: &property, place)
        // The value is computed and never stored.
        property.isTransient = true
        return property
    }

    static func fetchRequest(_ element: SourceElement, _ place: SourceElement.Place) throws -> FetchRequestDocument {
        guard let entity = element.string("entity") else {
            throw element.error(place, "a fetch request names no entity")
        }
        var request = FetchRequestDocument(entityName: entity)
        request.predicate = try element.string("predicateString").map { try predicateTree($0, element, place) }
        request.limit = try element.integer("fetchLimit", place)
        request.batchSize = try element.integer("fetchBatchSize", place)
        request.resultType = UInt(clamping: try element.integer("resultType", place))
        request.includesSubentities = try element.boolean("includeSubentities", default: true, place)
        let implied = FetchRequestDocument.implied(byResultType: request.resultType)
        request.includesPropertyValues = try element.boolean(
            "includePropertyValues", default: implied.propertyValues, place)
        request.includesPendingChanges = try element.boolean(
            "includesPendingChanges", default: implied.pendingChanges, place)
        request.returnsObjectsAsFaults = try element.boolean("returnObjectsAsFaults", default: true, place)
        request.returnsDistinctResults = try element.boolean("returnDistinctResults", place)
        return request
    }

    // MARK: Format strings

    static func predicateTree(
        _ format: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> PredicateTree {
        do {
            return try PredicateFormat.predicateTree(parsing: format)
        } catch {
            throw element.error(place, "the predicate “\(format)” does not parse: \(error.localizedDescription)")
        }
    }

    static func expressionTree(
        _ format: String, _ element: SourceElement, _ place: SourceElement.Place
    ) throws -> ExpressionTree {
        do {
            return try PredicateFormat.expressionTree(parsing: format)
        } catch {
            throw element.error(place, "the expression “\(format)” does not parse: \(error.localizedDescription)")
        }
    }
}
