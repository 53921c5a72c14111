/// What became of a list of results, as a table needs to hear it: old places count before the changes, new ones after them.
struct ResultChanges<Element> {
    /// A section that came or went.
    struct SectionChange {
        let index: Int
        let number: Int
        let name: String
    }

    /// An element that changed, came or went.
    struct ElementChange {
        let element: Element
        let old: ResultPlace?
        let new: ResultPlace?
    }

    /// By old indexes, the last first: who takes them out one by one does not shift those to come.
    var deletedSections: [SectionChange] = []
    /// By new indexes, the first first.
    var insertedSections: [SectionChange] = []
    /// By old places, the last first.
    var deletes: [ElementChange] = []
    /// By new places, the first first.
    var inserts: [ElementChange] = []
    /// Changed elements that are not in the same order among the others any more, by new places.
    var moves: [ElementChange] = []
    /// Other changed elements, by new places.
    var updates: [ElementChange] = []

    var isEmpty: Bool {
        deletes.isEmpty && inserts.isEmpty && moves.isEmpty && updates.isEmpty && deletedSections.isEmpty
            && insertedSections.isEmpty
    }
}
