import Foundation

/// The files of large values that a save writes, and those that it makes superfluous.
package final class ExternalFiles {
    private let external: ExternalData
    private let journal: FileJournal?
    private var written: [String] = []
    private var superfluous: [String] = []
    private var isCommitting = false

    /// - Parameters:
    ///   - external: the store's folder of external data.
    ///   - journal: where the files are noted before; nil where none are written.
    init(_ external: ExternalData, journal: FileJournal?) {
        self.external = external
        self.journal = journal
    }

    /// Whether there is nothing to do when the save ends.
    var isEmpty: Bool { written.isEmpty && superfluous.isEmpty }

    /// Keeps every value in its column.
    static var inlining: ExternalFiles { ExternalFiles(.none, journal: nil) }

    /// The bytes for a column; a large value goes into a file.
    func column(for content: Data) throws -> Data {
        guard content.count > external.inlineLimit else { return ExternalData.inline(content) }
        let name = UUID().uuidString
        try journal?.note([name])
        try external.write(content, as: name)
        written.append(name)
        return ExternalData.reference(to: name)
    }

    /// How many files were written so far.
    var writtenCount: Int { written.count }

    /// Notes that nothing refers to the files that were written since there were so many.
    func withdraw(after count: Int) { superfluous += written[count...] }

    /// Notes that a column's former bytes are replaced.
    func replaced(_ bytes: Data) throws {
        guard let name = ExternalData.fileName(in: bytes) else { return }
        try journal?.note([name])
        superfluous.append(name)
    }

    /// After the commit: removes the files that nothing refers to any more.
    func commit() {
        external.remove(superfluous)
        superfluous = []
        written = []
    }

    /// Before the commit.
    func willCommit() { isCommitting = true }

    /// After a save, or an attempt of one, that failed: removes the files that it wrote.
    func rollback() {
        // A commit that failed on its way to the disk may have come through nevertheless: the next to open the store can tell.
        if isCommitting, !isEmpty { journal?.leaveUnclear() } else { external.remove(written) }
        isCommitting = false
        written = []
        superfluous = []
    }
}
