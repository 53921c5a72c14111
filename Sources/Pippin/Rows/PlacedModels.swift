/// Models that arrive in any order, each stored at the place of its identifier.
///
/// For models of a generic type; see ``ModelBuffer``.
struct PlacedModels<Model>: ~Copyable {
    // Unsafe memory: the places for which `isThere` is true are initialized, and no other code has the pointers.
    private let start: UnsafeMutablePointer<Model>
    private let isThere: UnsafeMutablePointer<Bool>
    private let places: Int
    private var count = 0

    init(places: Int) {
        (start, isThere, self.places) = (.allocate(capacity: places), .allocate(capacity: places), places)
        isThere.initialize(repeating: false, count: places)
    }

    deinit {
        if count > 0 { for place in 0..<places where isThere[place] { (start + place).deinitialize(count: 1) } }
        start.deallocate()
        isThere.deallocate()
    }

    /// Puts a model at its place, replacing an earlier one.
    @inline(__always)
    mutating func put(_ model: consuming Model, at place: Int) {
        guard place >= 0, place < places else { return }
        if isThere[place] {
            (start + place).pointee = model
        } else {
            (start + place).initialize(to: model)
            isThere[place] = true
            count += 1
        }
    }

    /// Moves the models out.
    ///
    /// - Parameter asked: the places in the order of the list; those without a model are left out.
    /// - Returns: the models.
    mutating func take(_ asked: [Int]) -> [Model] {
        guard count == places, asked.count == places else {
            var models = ModelBuffer<Model>()
            for place in asked where isThere[place] { models.append(start[place]) }
            return models.take()
        }
        // Each place was asked for once, in the order of the places.
        count = 0
        return Array(unsafeUninitializedCapacity: places) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: start, count: places)
            initialized = places
        }
    }
}
