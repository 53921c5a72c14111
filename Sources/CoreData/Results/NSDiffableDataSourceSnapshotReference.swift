import Foundation

/// The sections and items of a list at one moment. UIKit and AppKit take it to update a list, and a fetched results
/// controller passes it to its delegate. Sections are identified by strings, items by `NSManagedObjectID`s.
public final class NSDiffableDataSourceSnapshotReference: NSObject {
    private struct Content {
        var sections: [String] = []
        var items: [[NSManagedObjectID]] = []
        var reloaded: [NSManagedObjectID] = []
    }

    private lazy var content = make()
    private lazy var sectionOfItem = indexItems()
    private let makeItems: () -> [(section: String, items: [NSManagedObjectID])]
    private let makeReloaded: () -> [NSManagedObjectID]

    /// A snapshot that is computed when it is first used.
    init(
        _ items: @escaping () -> [(section: String, items: [NSManagedObjectID])],
        reloaded: @escaping () -> [NSManagedObjectID]
    ) {
        makeItems = items
        makeReloaded = reloaded
    }

    private func make() -> Content {
        var content = Content()
        for (section, items) in makeItems() {
            content.sections.append(section)
            content.items.append(items)
        }
        content.reloaded = makeReloaded()
        return content
    }

    private func indexItems() -> [NSManagedObjectID: (section: Int, position: Int)] {
        var result: [NSManagedObjectID: (section: Int, position: Int)] = [:]
        var position = 0
        for (section, items) in content.items.enumerated() {
            for item in items {
                result[item] = (section, position)
                position += 1
            }
        }
        return result
    }

    /// The number of items in all sections.
    public var numberOfItems: Int { content.items.reduce(0) { $0 + $1.count } }

    /// The number of sections.
    public var numberOfSections: Int { content.sections.count }

    /// The names of the sections, in order.
    public var sectionIdentifiers: [Any] { content.sections }

    /// The IDs of all items, in order.
    public var itemIdentifiers: [Any] { Array(content.items.joined()) }

    /// The IDs of items that changed, and must be displayed again.
    public var reloadedItemIdentifiers: [Any] { content.reloaded }

    /// Empty: a results controller asks for items that changed to be displayed again, and for no others.
    public var reconfiguredItemIdentifiers: [Any] { [] }

    /// Empty: a results controller asks for items to be displayed again, not for whole sections.
    public var reloadedSectionIdentifiers: [Any] { [] }

    /// The number of items in a section.
    ///
    /// - Parameter sectionIdentifier: the name of a section; any other value stops the program.
    /// - Returns: the number of items.
    public func numberOfItems(inSection sectionIdentifier: Any) -> Int {
        content.items[section(sectionIdentifier)].count
    }

    /// The IDs of the items of a section, in order.
    ///
    /// - Parameter sectionIdentifier: the name of a section; any other value stops the program.
    /// - Returns: the IDs, in the order of the list.
    public func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
        content.items[section(sectionIdentifier)]
    }

    /// The name of the section of an item; `nil` if the snapshot does not have the item.
    ///
    /// - Parameter itemIdentifier: the ID of an object.
    /// - Returns: the section's name, a string.
    public func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
        (itemIdentifier as? NSManagedObjectID).flatMap { sectionOfItem[$0] }.map { content.sections[$0.section] }
    }

    /// The position of an item among those of all sections; `NSNotFound` if the snapshot does not have it.
    ///
    /// - Parameter itemIdentifier: the ID of an object.
    /// - Returns: the position, from 0, or `NSNotFound`.
    public func index(ofItemIdentifier itemIdentifier: Any) -> Int {
        (itemIdentifier as? NSManagedObjectID).flatMap { sectionOfItem[$0]?.position } ?? NSNotFound
    }

    /// The position of a section; `NSNotFound` if the snapshot does not have it.
    ///
    /// - Parameter sectionIdentifier: the name of a section.
    /// - Returns: the position, from 0, or `NSNotFound`.
    public func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
        content.sections.firstIndex { $0 == sectionIdentifier as? String } ?? NSNotFound
    }

    private func section(_ identifier: Any) -> Int {
        guard let name = identifier as? String, let index = content.sections.firstIndex(of: name) else {
            programmerError(
                "the snapshot has no section “\(identifier)”; it has \(content.sections.joined(separator: ", "))")
        }
        return index
    }
}
