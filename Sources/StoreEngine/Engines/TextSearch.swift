import CoreDataModel
import SearchText

/// What is searched of an entity's objects: the texts that its model marks.
package struct SearchedFields: Sendable {
    package struct Field: Sendable {
        /// The attribute, and the elements that lead to the text in a composite one.
        package let path: [String]
        /// How much an occurrence of a word counts.
        package let weight: Double
    }

    package let entity: EntityLayout
    package let fields: [Field]
    package let tokenizer: SearchTokenizer

    package var weights: [Double] { fields.map(\.weight) }

    /// The marked texts of an entity; nil if there are none.
    package init?(of entity: EntityLayout) {
        var fields: [Field] = []
        var stemsEnglish = false
        func add(_ attribute: AttributeLayout, _ path: [String]) {
            if attribute.type == .compositeAttributeType {
                for element in attribute.elements { add(element, path + [element.name]) }
            } else if let weight = attribute.searchWeight,
                [.stringAttributeType, .URIAttributeType].contains(attribute.type)
            {
                fields.append(Field(path: path, weight: weight))
                stemsEnglish = stemsEnglish || attribute.isStemmedInSearch
            }
        }
        for slot in entity.slots where !slot.isTransient {
            if let attribute = slot.attribute { add(attribute, [slot.name]) }
        }
        guard !fields.isEmpty else { return nil }
        self.entity = entity
        self.fields = fields
        tokenizer = SearchTokenizer(stemsEnglish: stemsEnglish)
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
