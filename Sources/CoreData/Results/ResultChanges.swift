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
