import Foundation

/// What a run of the program read and wrote, so that another person can repeat it: the bytes of each file as SHA-256,
/// sizes and times, before and after.
package struct EvidenceManifest {
    /// A file at one moment.
    package struct FileState: Equatable {
        package let path: String
        package let byteCount: Int64
        /// Seconds since 2001.
        package let modified: Double
        /// In hexadecimal digits; nil for a file that cannot be read.
        package let hash: String?

        /// Reads a file, piece by piece; nil if there is none.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            (self.path, byteCount) = (path, Int64(facts.st_size))
            modified = Double(facts.st_mtim.tv_sec) - 978_307_200 + Double(facts.st_mtim.tv_nsec) / 1e9
            hash = FileDigest.hash(ofFile: path)
        }

        fileprivate var json: String {
            JSONText.object([
                ("path", JSONText.string(path)), ("bytes", "\(byteCount)"),
                ("modified", JSONText.string(TextTools.iso8601(modified))),
                ("sha256", hash.map { JSONText.string($0) } ?? "null"),
            ])
        }
    }

    private let program: String
    private let arguments: [String]
    private let started: Date
    private let inputs: [String]
    private let before: [FileState]

    /// Looks at the files before they are read.
    ///
    /// - Parameters:
    ///   - program: the program's name and version.
    ///   - arguments: its arguments.
    ///   - stores: the stores that are read. What SQLite has beside them, and their large values, are looked at, too.
    package init(program: String, arguments: [String], stores: [String]) {
        (self.program, self.arguments, started) = (program, arguments, Date())
        inputs = stores.flatMap { Self.files(ofStore: URL(store: $0).path) }
        before = inputs.compactMap { FileState($0) }
    }

    /// A store's files: its database, what SQLite keeps beside it, and the files with large values.
    private static func files(ofStore path: String) -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return ["", "-wal", "-shm", "-journal"].map { path + $0 } + names.sorted().map { "\(folder)/\($0)" }
    }

    /// The manifest, after the run.
    ///
    /// - Parameters:
    ///   - outputs: the files that were written.
    ///   - status: the exit status.
    ///   - sources: what was read from where, as texts.
    /// - Returns: the text, in JSON.
    package func text(outputs: [String], status: Int32, sources: [String]) -> String {
        let after = inputs.compactMap { FileState($0) }
        func list(_ states: [FileState]) -> String {
            "[" + states.map { "\n    \($0.json)" }.joined(separator: ",") + (states.isEmpty ? "]" : "\n  ]")
        }
        let time = [started, Date()].map { JSONText.string(TextTools.iso8601($0.timeIntervalSinceReferenceDate)) }
        return """
            {
              "program": \(JSONText.string(program)),
              "arguments": [\(arguments.map(JSONText.string).joined(separator: ", "))],
              "started": \(time[0]),
              "ended": \(time[1]),
              "status": \(status),
              "read": \(list(before)),
              "unchanged": \(before == after),
              "sources": [\(sources.map(JSONText.string).joined(separator: ", "))],
              "written": \(list(outputs.compactMap { FileState($0) }))
            }

            """
    }
}

/// The hash SHA-256 (FIPS 180-4) of files of any size, which are read piece by piece.
enum FileDigest {
    /// The hash in hexadecimal digits; nil for a file that cannot be read.
    static func hash(ofFile path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var digest = Digest()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return digest.end() }
            digest.add(buffer[..<count])
        }
    }

    /// The hash of bytes in memory.
    static func hash(of bytes: [UInt8]) -> String {
        var digest = Digest()
        digest.add(bytes[...])
        return digest.end()
    }

    private struct Digest {
        private var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        private var words = [UInt32](repeating: 0, count: 64)
        private var rest: [UInt8] = []
        private var count: UInt64 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            count &+= UInt64(bytes.count)
            var bytes = bytes
            if !rest.isEmpty {
                let missing = bytes.prefix(64 - rest.count)
                rest += missing
                bytes = bytes.dropFirst(missing.count)
                guard rest.count == 64 else { return }
                compress(rest[...])
                rest = []
            }
            while bytes.count >= 64 {
                compress(bytes.prefix(64))
                bytes = bytes.dropFirst(64)
            }
            rest = Array(bytes)
        }

        mutating func end() -> String {
            let bits = count &* 8
            var padding: [UInt8] = [0x80]
            padding += [UInt8](repeating: 0, count: (119 - rest.count) % 64)
            padding += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
            add(padding[...])
            return state.map { word in
                let digits = String(word, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }.joined()
        }

        private mutating func compress(_ block: ArraySlice<UInt8>) {
            var place = block.startIndex
            for index in 0..<16 {
                words[index] =
                    UInt32(block[place]) << 24 | UInt32(block[place + 1]) << 16 | UInt32(block[place + 2]) << 8
                    | UInt32(block[place + 3])
                place += 4
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                words[index] =
                    words[index - 16] &+ (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) &+ words[index - 7]
                    &+ (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10)
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for index in 0..<64 {
                let first =
                    h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ (e & f ^ ~e & g)
                    &+ FileDigest.constants[index] &+ words[index]
                let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ (a & b ^ a & c ^ b & c)
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
        }

        private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
    }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        var constants: [UInt32] = []
        var candidate: UInt64 = 2
        while constants.count < 64 {
            if !(2..<candidate).contains(where: { candidate % $0 == 0 }) {
                constants.append(cubeRootFraction(candidate))
            }
            candidate += 1
        }
        return constants
    }()

    /// `⌊(∛n − ⌊∛n⌋) · 2³²⌋`, by bisection among whole numbers.
    private static func cubeRootFraction(_ number: UInt64) -> UInt32 {
        // The root of n · 2⁹⁶, of which products have up to 128 bits.
        var (low, high): (UInt64, UInt64) = (0, 1 << 36)
        while high - low > 1 {
            let middle = (low + high) / 2
            let square = middle.multipliedFullWidth(by: middle)
            let lower = square.low.multipliedFullWidth(by: middle)
            let upper = square.high.multipliedFullWidth(by: middle)
            let (sum, carry) = lower.high.addingReportingOverflow(upper.low)
            let top = upper.high + (carry ? 1 : 0)
            // n · 2⁹⁶ has n << 32 in its second word.
            let isSmaller = top == 0 && (sum < number << 32)
            if isSmaller { low = middle } else { high = middle }
        }
        return UInt32(truncatingIfNeeded: low)
    }
}
