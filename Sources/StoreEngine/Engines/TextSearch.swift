import CoreDataModel
import Foundation
import PredicateFormat

/// What is searched of an entity's objects: the texts that its model marks, and those of related objects.
package struct SearchedFields: Sendable {
    package struct Field: Sendable {
        /// The attribute, and the elements that lead to the text in a composite one; of a related object, its own.
        package let path: [String]
        /// How much an occurrence of a word counts.
        package let weight: Double
        /// The place in ``relationships`` of the one that leads to the objects with the text; nil for a text of the
        /// object itself.
        package var relation: Int?
    }

    package let entity: EntityLayout
    package let fields: [Field]
    /// The relationships to other objects whose texts are searched.
    package let relationships: [RelationshipLayout]
    package let tokenizer: SearchTokenizer

    package var weights: [Double] { fields.map(\.weight) }

    /// The marked texts of an entity; nil if there are none.
    package init?(of entity: EntityLayout) {
        var fields: [Field] = []
        var relationships: [RelationshipLayout] = []
        var stemsEnglish = false
        func add(_ attribute: AttributeLayout, _ path: [String]) {
            if attribute.type == .compositeAttributeType {
                for element in attribute.elements { add(element, path + [element.name]) }
            } else if let weight = attribute.searchWeight, Self.isText(attribute) {
                fields.append(Field(path: path, weight: weight))
                stemsEnglish = stemsEnglish || attribute.isStemmedInSearch
            }
        }
        for slot in entity.slots where !slot.isTransient {
            if let attribute = slot.attribute { add(attribute, [slot.name]) }
        }
        for relationship in entity.relationships where !relationship.isTransient {
            let destination = relationship.destination
            let texts = relationship.searchedTexts.filter { text in
                text.path.first.flatMap(destination.slotIndex).flatMap { destination.slots[$0].attribute } != nil
                    && destination.attribute(at: text.path).map(Self.isText) ?? false
            }
            guard !texts.isEmpty else { continue }
            fields += texts.map { Field(path: $0.path, weight: $0.weight, relation: relationships.count) }
            relationships.append(relationship)
            stemsEnglish = stemsEnglish || relationship.isStemmedInSearch
        }
        guard !fields.isEmpty else { return nil }
        self.entity = entity
        self.fields = fields
        self.relationships = relationships
        tokenizer = SearchTokenizer(stemsEnglish: stemsEnglish)
    }

    private static func isText(_ attribute: AttributeLayout) -> Bool {
        [.stringAttributeType, .URIAttributeType].contains(attribute.type)
    }

    /// Whether an ancestor of the entity has searched texts: the entity's rows are in its index then.
    package static func isOfAncestor(_ entity: EntityLayout) -> Bool {
        var ancestor = entity.superentity
        while let current = ancestor {
            if SearchedFields(of: current) != nil { return true }
            ancestor = current.superentity
        }
        return false
    }

    /// The texts of a row, in the order of the fields.
    ///
    /// - Parameters:
    ///   - layout: the row's entity, which is the index's or inherits from it.
    ///   - values: the row's values.
    ///   - related: the rows at the end of each of ``relationships``.
    /// - Returns: the texts; an empty one for each that is not there.
    package func texts(
        of layout: EntityLayout, _ values: ContiguousArray<StoredValue>, related: [[Row]] = []
    ) -> [String] {
        fields.map { field in
            guard let relation = field.relation else { return Self.text(at: field.path, layout, values) }
            guard related.indices.contains(relation) else { return "" }
            return SearchTokenizer.joined(
                related[relation].map { Self.text(at: field.path, $0.objectID.layout, $0.values) })
        }
    }

    private static func text(
        at path: [String], _ layout: EntityLayout, _ values: ContiguousArray<StoredValue>
    ) -> String {
        guard let name = path.first, let slot = layout.slotIndex(forName: name) else { return "" }
        guard path.count > 1 else { return values[slot].searchedText }
        guard case .object(let composite as CompositeValue) = values[slot], let attribute = layout.attribute(at: path)
        else { return "" }
        return composite.stored(at: path.dropFirst(), attribute).searchedText
    }
}

extension StoredValue {
    /// A searched text; empty if there is none.
    package var searchedText: String {
        switch self {
        case .string(let text): text
        case .object(let url as NSURL): (url as URL).absoluteString
        default: ""
        }
    }
}

/// A row that a search found.
package struct SearchMatch: Sendable {
    package let key: Int64
    /// Less is better.
    package let rank: Double

    package init(key: Int64, rank: Double) { (self.key, self.rank) = (key, rank) }
}

/// An engine that keeps an index of the words in texts.
package protocol SearchingEngine: StoreEngine {
    /// The rows that a query finds, best first.
    ///
    /// - Parameters:
    ///   - query: what to look for.
    ///   - fields: where.
    ///   - limit: how many rows at most; nil for all.
    /// - Returns: the rows; nil if the store has no index that is up to date, and none can be made now: then the texts
    ///   have to be compared one by one.
    /// - Throws: an `NSError` for a store that cannot be read.
    func search(_ query: SearchQuery, in fields: SearchedFields, limit: Int?) throws -> [SearchMatch]?
}
