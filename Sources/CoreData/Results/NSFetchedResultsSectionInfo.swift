import Foundation

/// A section of a fetched results controller.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name: the value under the controller's section name key path.
    var name: String { get }
    /// The title of the section in a list's index.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The objects of the section, in order.
    var objects: [Any]? { get }
}

/// A section of a controller's current results; it is empty once the section is deleted.
final class FetchedResultsSection: NSObject, NSFetchedResultsSectionInfo {
    private let results: FetchedResults
    private let number: Int
    let name: String
    /// Where the section was when this was made.
    private let formerIndex: Int

    init(_ results: FetchedResults, number: Int, name: String, index: Int) {
        self.results = results
        self.number = number
        self.name = name
        formerIndex = index
        super.init()
    }

    /// A section that a delegate received equals the one that the controller returns later.
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FetchedResultsSection else { return false }
        return results === other.results && number == other.number
    }

    override var hash: Int { number }

    private var index: Int? {
        guard let sections = results.list?.sections else { return nil }
        if sections.indices.contains(formerIndex), sections[formerIndex].number == number { return formerIndex }
        return sections.firstIndex { $0.number == number }
    }

    var indexTitle: String? { results.isSectioned ? results.indexTitle(forSectionName: name) : nil }

    var numberOfObjects: Int { index.flatMap { results.list?.sections[$0].count } ?? 0 }

    var objects: [Any]? { index.flatMap { results.list?.elements(inSection: $0).map(\.object) } ?? [] }
}
