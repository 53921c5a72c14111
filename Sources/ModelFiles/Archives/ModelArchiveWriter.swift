import Foundation

/// Writes a model as Apple's keyed archive.
package enum ModelArchiveWriter {
    /// The two forms that Apple writes.
    package enum Form: Sendable {
        /// A `.mom` file: every entity with its own properties.
        case compiled
        /// The model cache of a store: a model in use, where every entity lists its inherited properties too.
        case cache
    }

    /// Writes a model.
    ///
    /// - Throws: `ModelFileError` naming the entity and property that cannot be written.
    package static func archive(of document: ModelDocument, form: Form) throws -> KeyedArchive {
        var writer = ModelArchiveWriting(
            form == .compiled ? document.withoutImpliedIndexes : document.withImpliedIndexes, form)
        return try writer.archive()
    }
}

/// The state of one writing: the objects that are referenced before they are complete.
struct ModelArchiveWriting {
    let document: ModelDocument
    let form: ModelArchiveWriter.Form
    var builder = KeyedArchiveBuilder()
    /// The properties that each entity lists, by entity: its own, or in a cache inherited ones too.
    let listed: [String: [PropertyDocument]]
    let entityByName: [String: EntityDocument]
    private let childrenByParent: [String: [EntityDocument]]
    private let model: PropertyList
    private(set) var entities: [String: PropertyList] = [:]
    private var properties: [String: [String: PropertyList]] = [:]
    private var emptyUserInfo: PropertyList?
    /// How many expressions of indexes are written.
    private var expressionCount = 0

    init(_ document: ModelDocument, _ form: ModelArchiveWriter.Form) {
        self.document = document.compiled
        self.form = form
        let byName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        entityByName = byName
        childrenByParent = Dictionary(grouping: self.document.entities) { $0.parentName ?? "" }
        listed = byName.mapValues { entity in
            let inherited = form == .cache ? DocumentCheck.ancestors(of: entity, byName).flatMap(\.properties) : []
            return (entity.properties + inherited).sorted { $0.name < $1.name }
        }
        model = builder.reserve()
        for entity in self.document.entities { entities[entity.name] = builder.reserve() }
        for entity in self.document.entities {
            for property in listed[entity.name] ?? [] {
                properties[entity.name, default: [:]][property.name] = builder.reserve()
            }
        }
    }

    mutating func archive() throws -> KeyedArchive {
        var fields: [String: PropertyList] = ["NSEntities": entityDictionary()]
        for entity in document.entities { try write(entity) }
        fields["NSFetchRequestTemplates"] = try templates()
        var identifiers: [PropertyList] = []
        for identifier in document.versionIdentifiers { identifiers.append(builder.string(identifier)) }
        fields["NSVersionIdentifiers"] = builder.set(identifiers)
        if !document.configurations.isEmpty {
            var pairs: [(key: PropertyList, value: PropertyList)] = []
            for (name, members) in document.configurations.sorted(by: { $0.key < $1.key }) {
                let set = builder.set(members.compactMap { entities[$0] })
                pairs.append((key: builder.string(name), value: set))
            }
            fields["NSConfigurations"] = builder.dictionary(pairs, isMutable: true)
        }
        builder.fill(model, classNames: ModelArchive.model, fields: fields)
        return builder.archive(root: model)
    }

    private mutating func templates() throws -> PropertyList {
        guard !document.fetchRequestTemplates.isEmpty else { return KeyedArchiveBuilder.null }
        var pairs: [(key: PropertyList, value: PropertyList)] = []
        for (name, request) in document.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
            let key = builder.string(name)
            pairs.append((key: key, value: try fetchRequest(request)))
        }
        return builder.dictionary(pairs, isMutable: true)
    }

    private mutating func entityDictionary() -> PropertyList {
        let names = document.entities.map(\.name)
        let references = names.compactMap { entities[$0] }
        var keys: [PropertyList] = []
        for name in names { keys.append(builder.string(name)) }
        guard form == .cache else {
            return builder.dictionary(zip(keys, references).map { (key: $0, value: $1) }, isMutable: true)
        }
        let mapping = builder.add(
            classNames: ModelArchive.knownKeysMapping,
            fields: ["keys": builder.array(keys), "length": .integer(Int64(keys.count)), "version": .integer(1)])
        return builder.add(
            classNames: ModelArchive.knownKeysDictionary,
            fields: [
                "searchMapping": mapping, "emptyToken": builder.string(ModelArchive.emptySlotToken),
                "values": builder.array(references), "version": .integer(1),
            ])
    }

    private mutating func write(_ entity: EntityDocument) throws {
        guard let reference = entities[entity.name] else { return }
        var fields: [String: PropertyList] = [
            "NSEntityName": builder.string(entity.name), "NSManagedObjectModel": model,
            "NSClassNameForEntity": builder.string(entity.className ?? "NSManagedObject"),
            "NSRenamingIdentifier": builder.string(entity.renamingIdentifier ?? entity.name),
            "NSVersionHashModifier": builder.string(entity.versionHashModifier),
            "NSSuperentity": entity.parentName.flatMap { entities[$0] } ?? KeyedArchiveBuilder.null,
            "NSUserInfo": try userInfo(entity.userInfo),
        ]
        var children: [(key: PropertyList, value: PropertyList)] = []
        for child in childrenByParent[entity.name] ?? [] {
            children.append((key: builder.string(child.name), value: entities[child.name] ?? KeyedArchiveBuilder.null))
        }
        fields["NSSubentities"] = builder.dictionary(children, isMutable: true)
        var pairs: [(key: PropertyList, value: PropertyList)] = []
        for property in listed[entity.name] ?? [] {
            let value = properties[entity.name]?[property.name] ?? KeyedArchiveBuilder.null
            pairs.append((key: builder.string(property.name), value: value))
            try write(property, of: entity.name, to: value)
        }
        fields["NSProperties"] = builder.dictionary(pairs, isMutable: true)
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = nameLists(entity.uniquenessConstraints) }
        if !entity.compoundIndexes.isEmpty { fields["NSCompoundIndexes"] = nameLists(entity.compoundIndexes) }
        if let name = entity.spotlightDisplayName {
            fields["NSCoreSpotlightDisplayName"] = try PredicateArchiveWriter.expression(name, &builder)
        }
        if !entity.indexes.isEmpty {
            var indexes: [PropertyList] = []
            for index in entity.indexes { indexes.append(try write(index, of: reference)) }
            fields["NSFetchIndexDescriptions"] = builder.array(indexes, isMutable: true)
        }
        builder.fill(reference, classNames: ModelArchive.entity, fields: fields)
    }

    private mutating func nameLists(_ lists: [[String]]) -> PropertyList {
        var references: [PropertyList] = []
        for list in lists {
            var names: [PropertyList] = []
            for name in list { names.append(builder.string(name)) }
            references.append(builder.array(names, isMutable: true))
        }
        return builder.array(references, isMutable: true)
    }

    private mutating func write(_ index: IndexDocument, of entity: PropertyList) throws -> PropertyList {
        let reference = builder.reserve()
        var elements: [PropertyList] = []
        for element in index.elements {
            var fields: [String: PropertyList] = [
                "NSFetchIndexElementType": .integer(Int64(element.type.rawValue)), "NSFetchIndexDescription": reference,
                "NSAscending": .boolean(element.isAscending),
            ]
            switch element.subject {
            case .property(let name):
                fields["NSPropertyName"] = builder.string(name)
            case .expression(let name, let tree, let type):
                expressionCount += 1
                let isNamed = !name.isEmpty && name != IndexElementDocument.expressionName
                let reference = builder.string(
                    isNamed ? name : "\(IndexElementDocument.expressionName)\(expressionCount)")
                let flags: ModelArchive.PropertyFlags = [
                    .present, .optional, .readOnly, .noValidationPredicates, .noValidationWarnings, .noUserInfo,
                    .noVersionHashModifier,
                ]
                let expression = try tree.map { try PredicateArchiveWriter.expression($0, &builder) }
                fields["NSPropertyName"] = reference
                fields["NSIndexedProperty"] = builder.add(
                    classNames: ModelArchive.expressionDescription,
                    fields: [
                        "NSPropertyName": reference, "NSRenamingIdentifier": reference,
                        "NSExpression": expression ?? KeyedArchiveBuilder.null,
                        "NSExpressionType": .integer(Int64(type.rawValue)), "NSIsOptional": .boolean(true),
                        "NSIsReadOnly": .boolean(true), "NSEntity": KeyedArchiveBuilder.null,
                        "_P": .integer(flags.rawValue),
                    ])
            }
            elements.append(builder.add(classNames: ModelArchive.indexElement, fields: fields))
        }
        let predicate = try index.predicate.map { try PredicateArchiveWriter.predicate($0, &builder) }
        builder.fill(
            reference, classNames: ModelArchive.index,
            fields: [
                "NSIndexName": builder.string(index.name), "NSIndexElements": builder.array(elements),
                "NSEntity": entity,
                "NSPartialIndexPredicate": predicate ?? KeyedArchiveBuilder.null,
            ])
        return reference
    }

    /// The empty user info is one object for all entities.
    mutating func userInfo(_ info: [String: ModelValue]) throws -> PropertyList {
        if info.isEmpty {
            if let emptyUserInfo { return emptyUserInfo }
            let reference = builder.dictionary([])
            emptyUserInfo = reference
            return reference
        }
        var pairs: [(key: PropertyList, value: PropertyList)] = []
        for (key, value) in info.sorted(by: { $0.key < $1.key }) {
            let name = builder.string(key)
            pairs.append((key: name, value: try self.value(value)))
        }
        return builder.dictionary(pairs)
    }

    mutating func value(_ value: ModelValue?) throws -> PropertyList {
        guard let value else { return KeyedArchiveBuilder.null }
        if case .archived(let fragment) = value { return builder.add(fragment) }
        return try builder.foundationValue(value.object)
    }

    /// The reference to a property of an entity, inherited from the entity that introduces it.
    func property(named name: String, ofEntity entityName: String) -> PropertyList? {
        if let reference = properties[entityName]?[name] { return reference }
        guard let entity = entityByName[entityName] else { return nil }
        return DocumentCheck.ancestors(of: entity, entityByName).lazy.compactMap { properties[$0.name]?[name] }.first
    }
}
