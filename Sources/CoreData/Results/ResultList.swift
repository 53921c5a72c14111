import Foundation

/// The place of a result: its section, and its index in it.
struct ResultPlace: Hashable {
    var section: Int
    var row: Int
}

/// The results of a fetch, in order and in sections: a value, to which changes are applied.
struct ResultList<Element: Hashable> {
    struct Section {
        /// Identifies a section while others are inserted and deleted.
        let number: Int
        let name: String
        var count: Int
    }

    private(set) var entries: ChunkedList<Element>
    var sections: [Section]
    /// Whether there are sections. If not, there is a single one, which stays when it is empty.
    let isSectioned: Bool
    private var lastSectionNumber: Int

    /// A list without sections.
    init(_ elements: [Element]) {
        entries = ChunkedList(elements)
        sections = [Section(number: 0, name: "", count: elements.count)]
        isSectioned = false
        lastSectionNumber = 0
    }

    /// A list with sections.
    ///
    /// - Parameters:
    ///   - elements: the elements, in an order that keeps those of a section together.
    ///   - sectionName: the name of the section of an element.
    /// - Throws: `SectionOutOfOrder` for an element whose section has ended before.
    init(_ elements: [Element], sectionName: (Element) -> String) throws(SectionOutOfOrder) {
        entries = ChunkedList(elements)
        sections = []
        isSectioned = true
        lastSectionNumber = 0
        var names: Set<String> = []
        for (index, element) in elements.enumerated() {
            let name = sectionName(element)
            if let last = sections.last, last.name == name {
                sections[sections.count - 1].count += 1
            } else {
                guard names.insert(name).inserted else { throw SectionOutOfOrder(index: index, section: name) }
                addSection(name, at: sections.count, count: 1)
            }
        }
    }

    /// The place of an element; `nil` if it is not among the results.
    func place(of element: Element) -> ResultPlace? {
        guard var row = entries.position(of: element) else { return nil }
        for index in sections.indices {
            let count = sections[index].count
            if row < count { return ResultPlace(section: index, row: row) }
            row -= count
        }
        return nil
    }

    /// The element at a place; `nil` if there is no such place.
    func element(at place: ResultPlace) -> Element? {
        guard sections.indices.contains(place.section), (0..<sections[place.section].count).contains(place.row) else {
            return nil
        }
        return entries[start(of: place.section) + place.row]
    }

    /// The elements of a section, by its index.
    func elements(inSection index: Int) -> [Element] {
        let start = start(of: index)
        return entries[start..<start + sections[index].count]
    }

    /// The name of each element's section, in order.
    var sectionNames: [String] { sections.flatMap { repeatElement($0.name, count: $0.count) } }

    /// The position of the first element of a section.
    func start(of section: Int) -> Int {
        var start = 0
        for index in 0..<section { start += sections[index].count }
        return start
    }

    @discardableResult
    mutating func addSection(_ name: String, at index: Int, count: Int = 0) -> Int {
        lastSectionNumber += 1
        sections.insert(Section(number: lastSectionNumber, name: name, count: count), at: index)
        return index
    }

    mutating func remove(_ element: Element) {
        guard let place = place(of: element) else { return }
        entries.remove(element)
        sections[place.section].count -= 1
    }

    mutating func insert(_ element: Element, at place: ResultPlace) {
        entries.insert(element, at: start(of: place.section) + place.row)
        sections[place.section].count += 1
    }
}

/// An element comes after a section that follows its own. Not a part of the generic type: Swift 6.0 cannot compile an
/// initializer that throws one.
struct SectionOutOfOrder: Error, Equatable {
    let index: Int
    let section: String
}

// UIKit and AppKit give index paths these names; Foundation on other platforms does not.
extension IndexPath {
    /// Makes the path of an item in a section of a collection.
    ///
    /// - Parameters:
    ///   - item: the item's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

    /// Makes the path of a row in a section of a table.
    ///
    /// - Parameters:
    ///   - row: the row's index in its section, from 0.
    ///   - section: the section's index, from 0.
    public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

    /// The index of the section, the first of the two.
    public var section: Int {
        get { self[0] }
        set { self[0] = newValue }
    }

    /// The index of the item in its section, the second of the two.
    public var item: Int {
        get { self[1] }
        set { self[1] = newValue }
    }

    /// The index of the row in its section, the second of the two.
    public var row: Int {
        get { self[1] }
        set { self[1] = newValue }
    }
}

/// The changes of a list of results in the form for a table: old places are before all the changes, new ones after
/// them.
struct ResultChanges<Element> {
    /// An inserted or deleted section.
    struct SectionChange {
        let index: Int
        let number: Int
        let name: String
    }

    /// A changed, inserted or deleted element.
    struct ElementChange {
        let element: Element
        let old: ResultPlace?
        let new: ResultPlace?
    }

    /// By old indexes, the last first, so that deleting them one by one does not shift those to come.
    var deletedSections: [SectionChange] = []
    /// By new indexes, in ascending order.
    var insertedSections: [SectionChange] = []
    /// By old places, the last first.
    var deletes: [ElementChange] = []
    /// By new places, in ascending order.
    var inserts: [ElementChange] = []
    /// Changed elements that are no longer in the same order relative to the others, by new places.
    var moves: [ElementChange] = []
    /// Other changed elements, by new places.
    var updates: [ElementChange] = []

    var isEmpty: Bool {
        deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
            && insertedSections.isEmpty
    }
}
