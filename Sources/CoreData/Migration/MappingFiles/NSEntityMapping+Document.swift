import Foundation

// Converts mapping files, which are values, to Core Data's classes.
extension NSEntityMapping {
    convenience init(_ document: EntityMappingDocument) {
        self.init()
        name = document.name
        mappingType = document.type
        sourceEntityName = document.sourceName
        destinationEntityName = document.destinationName
        sourceEntityVersionHash = document.sourceVersionHash
        destinationEntityVersionHash = document.destinationVersionHash
        entityMigrationPolicyClassName = document.policyClassName
        sourceExpression = document.sourceExpression.map(makeMappingExpression)
        attributeMappings = document.attributes?.map(NSPropertyMapping.init)
        relationshipMappings = document.relationships?.map(NSPropertyMapping.init)
        userInfo = document.userInfo
    }

    var document: EntityMappingDocument {
        var document = EntityMappingDocument(name: name)
        document.type = mappingType
        document.sourceName = sourceEntityName
        document.destinationName = destinationEntityName
        document.sourceVersionHash = sourceEntityVersionHash
        document.destinationVersionHash = destinationEntityVersionHash
        document.policyClassName = entityMigrationPolicyClassName
        document.sourceExpression = sourceExpression.map(expressionTree(of:))
        document.attributes = attributeMappings?.map(\.document)
        document.relationships = relationshipMappings?.map(\.document)
        document.userInfo = userInfo
        return document
    }
}

extension NSPropertyMapping {
    fileprivate convenience init(_ document: PropertyMappingDocument) {
        self.init()
        name = document.name
        valueExpression = document.expression.map(makeMappingExpression)
        userInfo = document.userInfo
    }

    fileprivate var document: PropertyMappingDocument {
        PropertyMappingDocument(
            name: name, expression: valueExpression.map(expressionTree(of:)), userInfo: userInfo)
    }
}

extension MappedModel {
    init(_ model: NSManagedObjectModel) throws {
        self.init(try ModelDocument(model), hashes: model.entityVersionHashesByName)
    }
}

extension MappingArchiveReader {
    /// The entity mappings of an archive.
    static func mappings(of data: Data) throws -> [NSEntityMapping] {
        try documents(of: data).map(NSEntityMapping.init)
    }
}

extension MappingSourceCompiler {
    /// The entity mappings of a source.
    static func mappings(
        of source: MappingSource, from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel
    ) throws -> [NSEntityMapping] {
        try documents(of: source, from: MappedModel(sourceModel), to: MappedModel(destinationModel))
            .map(NSEntityMapping.init)
    }
}

/// An expression of a mapping model; fetch requests have a class of their own.
func makeMappingExpression(_ tree: ExpressionTree) -> NSExpression {
    guard case .fetch(let request, let context, let countOnly) = tree else { return makeExpression(tree) }
    return NSFetchRequestExpression.expression(
        forFetch: makeExpression(request), context: makeExpression(context), countOnly: countOnly)
}
