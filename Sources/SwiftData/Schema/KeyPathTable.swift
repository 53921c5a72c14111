import Synchronization

/// The numbers of properties by the identity of their key paths.
///
/// A program has one object for each key path that it spells out, so that its address tells the property without the
/// hash of its content. Others are not found here.
///
/// Unsafe memory: the entries are read by any thread while another one adds some. An entry's number is written before
/// its address, and neither changes again; a key path in the table is kept alive forever, so that no other one gets its
/// address. The table is as large as the class's properties require, and is never freed, like the class.
final class KeyPathTable: @unchecked Sendable {
    // @unchecked Sendable: entries are atomic.
    private struct Entry: ~Copyable {
        let address = Atomic<UInt>(0)
        let number = Atomic<Int>(0)
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let mask: Int
    private let count = Mutex(0)

    /// - Parameter properties: how many properties there are.
    init(properties: Int) {
        var capacity = 16
        while capacity < properties * 8 { capacity *= 2 }
        mask = capacity - 1
        entries = .allocate(capacity: capacity)
        for index in 0..<capacity { (entries + index).initialize(to: Entry()) }
    }

    /// The number of a key path that was added; nil for any other.
    func number(_ keyPath: AnyKeyPath) -> Int? {
        let address = UInt(bitPattern: Unmanaged.passUnretained(keyPath).toOpaque())
        var index = Int(truncatingIfNeeded: address >> 4) & mask
        while true {
            let found = entries[index].address.load(ordering: .acquiring)
            if found == address { return entries[index].number.load(ordering: .relaxed) }
            if found == 0 { return nil }
            index = (index + 1) & mask
        }
    }

    /// Adds a key path, unless the table is half full.
    func add(_ keyPath: AnyKeyPath, _ number: Int) {
        count.withLock { count in
            guard count <= mask / 2, self.number(keyPath) == nil else { return }
            count += 1
            let address = UInt(bitPattern: Unmanaged.passRetained(keyPath).toOpaque())
            var index = Int(truncatingIfNeeded: address >> 4) & mask
            while entries[index].address.load(ordering: .relaxed) != 0 { index = (index + 1) & mask }
            entries[index].number.store(number, ordering: .relaxed)
            entries[index].address.store(address, ordering: .releasing)
        }
    }
}
