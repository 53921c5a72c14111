/// What the pages of a database are used for, found by following its trees, the chains of long rows, and the list of
/// free pages.
package struct PageUse: Sendable {
    package enum Kind: UInt8, Sendable {
        /// Nothing leads to it.
        case unreachable
        case tree
        case overflow
        /// It has the numbers of free pages.
        case freeTrunk
        case freeLeaf
        /// A map of pages to their parents, or the page that locks are set on.
        case bookkeeping
    }

    private var kinds: [UInt8]
    /// How many pages the list of free pages has that is followed.
    package private(set) var freePages = 0

    /// - Parameters:
    ///   - pages: the database.
    ///   - roots: the pages of the roots of its trees, besides the schema's.
    package init(_ pages: DatabasePages, roots: [Int]) {
        kinds = [UInt8](repeating: Kind.unreachable.rawValue, count: pages.count + 1)
        for root in [1] + roots {
            pages.forEachPage(of: root) { number, page in
                guard self[number] == .unreachable else { return true }
                set(number, .tree)
                guard page.kind != .tableInterior else { return true }
                for index in page.cells.indices {
                    guard let cell = page.cell(index), cell.overflow != nil else { continue }
                    for part in pages.overflowPages(of: cell) where self[part] == .unreachable { set(part, .overflow) }
                }
                return true
            }
        }
        if pages.header.hasPointerMap || pages.count > 0x4000_0000 / pages.header.pageSize {
            for number in 1..<kinds.count where self[number] == .unreachable && pages.header.isBookkeeping(number) {
                set(number, .bookkeeping)
            }
        }
        followFreePages(pages)
    }

    private mutating func followFreePages(_ pages: DatabasePages) {
        guard let header = DatabaseHeader(pages.page(1)) else { return }
        var next = header.firstFreePage
        while next > 0, self[next] == .unreachable {
            let trunk = pages.page(next)
            set(next, .freeTrunk)
            freePages += 1
            guard let following = trunk.number32(at: 0), let count = trunk.number32(at: 4) else { return }
            for index in 0..<min(Int(count), pages.header.usableSize / 4 - 2) {
                guard let leaf = trunk.number32(at: 8 + 4 * index), self[Int(leaf)] == .unreachable else { continue }
                set(Int(leaf), .freeLeaf)
                freePages += 1
            }
            next = Int(following)
        }
    }

    /// The use of a page. Pages beyond the database have none, and count as bookkeeping: nothing is to be found there.
    package subscript(page: Int) -> Kind {
        guard page > 0, page < kinds.count else { return .bookkeeping }
        return Kind(rawValue: kinds[page]) ?? .unreachable
    }

    private mutating func set(_ page: Int, _ kind: Kind) {
        guard page > 0, page < kinds.count else { return }
        kinds[page] = kind.rawValue
    }

    /// Whether a page may have kept a part of a row that is not there any more.
    func mayKeepParts(_ page: Int) -> Bool { self[page] == .freeLeaf || self[page] == .unreachable }
}

/// Which table each page of a tree belongs to, while commits of the log change the trees.
struct PageOwners {
    private var owners: [Int: Int] = [:]

    /// The table of a page, by its index; nil if it is not known.
    subscript(page: Int) -> Int? { owners[page] }

    /// - Parameters:
    ///   - pages: the database.
    ///   - roots: the table of each root.
    init(_ pages: DatabasePages, roots: [Int: Int]) {
        for (root, table) in roots { own(root, table, pages) }
    }

    /// Follows the frames of a commit, which `pages` has already.
    mutating func follow(_ changed: some Sequence<Int>, _ pages: DatabasePages, roots: [Int: Int]) {
        for (root, table) in roots where owners[root] != table { own(root, table, pages) }
        for page in changed { if let table = owners[page] { own(page, table, pages) } }
    }

    /// Leaves are entered by their parents, so that only interior pages are read.
    private mutating func own(_ start: Int, _ table: Int, _ pages: DatabasePages) {
        owners[start] = table
        var stack = [(page: start, level: 0)]
        var seen: Set<Int> = [start]
        while let (number, level) = stack.popLast() {
            guard level < 20, let page = pages.tree(number), page.kind == .tableInterior else { continue }
            for child in page.children where seen.insert(child).inserted {
                let wasOwned = owners.updateValue(table, forKey: child) == table
                // A child that was this table's already has its children entered, unless it is among the changed ones.
                if !wasOwned { stack.append((child, level + 1)) }
            }
        }
    }
}
