import Foundation

/// The files of large values that a save writes, and those that it makes superfluous.
package final class ExternalFiles {
    private let external: ExternalData
    private let journal: FileJournal?
    private var written: [String] = []
    private var superfluous: [String] = []
    /// The files to which rows go on to refer.
    private var kept: Set<String> = []
    private var isCommitting = false

    /// - Parameters:
    ///   - external: the store's folder of external data.
    ///   - journal: records the files before they are written; nil if none are written.
    init(_ external: ExternalData, journal: FileJournal?) {
        self.external = external
        self.journal = journal
    }

    /// Whether nothing has to be done at the end of the save.
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

    /// Marks the files written after the first `count` as superfluous.
    func withdraw(after count: Int) { superfluous += written[count...] }

    /// Records that a column's former bytes are replaced.
    func replaced(_ bytes: Data) throws {
        guard let name = ExternalData.fileName(in: bytes) else { return }
        try journal?.note([name])
        superfluous.append(name)
    }

    /// Records that a column gets bytes that it may have had before.
    func keep(_ bytes: Data) { if let name = ExternalData.fileName(in: bytes) { kept.insert(name) } }

    /// After the commit.
    ///
    /// - Returns: the superfluous files.
    func commit() -> [String] {
        defer { (superfluous, written, kept) = ([], [], []) }
        return kept.isEmpty ? superfluous : superfluous.filter { !kept.contains($0) }
    }

    /// Before the commit.
    func willCommit() { isCommitting = true }

    /// After a failed save, or a failed attempt: removes the files that it wrote.
    func rollback() {
        // A commit that failed while writing to the disk may have succeeded nevertheless; the next opening of the store
        // can find out.
        if isCommitting, !isEmpty { journal?.leaveUnclear() } else { external.remove(written) }
        isCommitting = false
        (superfluous, written, kept) = ([], [], [])
    }
}
